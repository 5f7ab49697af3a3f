// The index of the search, made when the site is built. The browser only loads it.

import MiniSearch from 'minisearch'
import type { AsPlainObject } from 'minisearch'
import type { Operation } from '../../src/http/reference/api-document.ts'
import type { Section } from '../markdown/sections.ts'
import { reference } from '../pages.ts'
import type { Page } from '../pages.ts'
import type { Entry } from './entry.ts'

export function indexEntries(entries: readonly Entry[]): AsPlainObject {
  const index = new MiniSearch<Entry>({
    idField: 'address',
    fields: ['page', 'heading', 'text'],
    storeFields: ['address', 'page', 'heading', 'text'],
  })
  index.addAll(entries)
  return index.toJSON()
}

export function entriesOfPage({ output, title }: Page, sections: readonly Section[]): Entry[] {
  return sections.map(({ heading, anchor, text }) => ({
    address: `${output}#${anchor}`,
    page: title,
    heading,
    text: text.trim(),
  }))
}

export function entryOfOperation({ id, method, path, summary = '', description = '' }: Operation): Entry {
  return {
    address: `${reference.output}#${id}`,
    page: reference.title,
    heading: `${method} ${path}`,
    text: `${summary}. ${description}`,
  }
}

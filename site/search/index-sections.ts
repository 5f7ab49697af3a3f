// The index of the search, made when the site is built. The browser only loads it.

import MiniSearch from 'minisearch'
import type { AsPlainObject } from 'minisearch'
import type { Section } from '../markdown/sections.ts'
import type { Page } from '../pages.ts'
import type { Entry } from './entry.ts'

export function indexSections(documents: readonly { page: Page; sections: readonly Section[] }[]): AsPlainObject {
  const index = new MiniSearch<Entry>({
    fields: ['page', 'heading', 'text'],
    storeFields: ['address', 'page', 'heading', 'text'],
  })
  const entries = documents.flatMap(({ page, sections }) =>
    sections.map(({ heading, anchor, text }) => ({
      address: `${page.output}#${anchor}`,
      page: page.title,
      heading,
      text: text.trim(),
    })),
  )
  index.addAll(entries.map((entry, id) => ({ id, ...entry })))
  return index.toJSON()
}

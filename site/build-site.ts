// Builds the documents of the repository into static pages, with a search and without any request to other servers.

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Eleventy from '@11ty/eleventy'
import type { EleventyConfig } from '@11ty/eleventy'
import { prepareMarkdown } from './markdown/render-markdown.ts'
import type { Section } from './markdown/sections.ts'
import { SiteLinks } from './markdown/site-links.ts'
import { listGroups } from './pages.ts'
import type { Page } from './pages.ts'
import { writeReference } from './reference.ts'
import { entriesOfPage, entryOfOperation, indexEntries } from './search/index-sections.ts'

/** Files of the site that are copied as they are. The looks are those of the dashboard. */
const assets: Readonly<Record<string, string>> = {
  'static/app/style.css': 'assets/style.css',
  'static/favicon.ico': 'assets/favicon.ico',
  'site/site.css': 'assets/site.css',
  'site/browser/search.js': 'assets/search.js',
  'node_modules/minisearch/LICENSE.txt': 'assets/minisearch-license.txt',
}

/** Writes the site into a folder, which it empties first. Returns the pages. */
export async function buildSite(folder: string): Promise<Page[]> {
  const groups = listGroups()
  const pages = groups.flatMap((group) => group.pages)
  const links = new SiteLinks(pages)
  const sections = new Map<string, Section[]>()

  const configure = (config: EleventyConfig): void => {
    config.setUseGitIgnore(false)
    config.setLayoutsDirectory('_layouts')
    config.addGlobalData('groups', groups)
    config.addGlobalData('version', readVersion())
    config.addFilter('contents', (source: string) => sections.get(source)?.filter(({ level }) => level === 2) ?? [])
    config.addFilter('splitAfterTitle', splitAfterTitle)
    config.amendLibrary('md', (markdown) => {
      prepareMarkdown(markdown, {
        links,
        pageOf: (environment) => (environment as { document: Page }).document,
        keepSections: (page, found) => sections.set(page.source, found),
      })
    })
    for (const page of pages) config.addTemplate(`site/templates/${page.source}`, page.text, dataOf(page))
  }

  rmSync(folder, { recursive: true, force: true })
  await new Eleventy('site/templates', folder, { config: configure, quietMode: true }).write()
  for (const [from, to] of [...Object.entries(assets), ...links.copies]) copy(from, join(folder, to))
  writeFileSync(join(folder, 'assets/minisearch.js'), readMiniSearch())
  const operations = await writeReference(folder)
  const entries = pages.flatMap((page) => entriesOfPage(page, sections.get(page.source) ?? []))
  const index = JSON.stringify(indexEntries([...entries, ...operations.map(entryOfOperation)]))
  writeFileSync(join(folder, 'assets/search-index.js'), `globalThis.searchIndex = ${index}\n`)
  return pages
}

function dataOf(page: Page): Readonly<Record<string, unknown>> {
  return {
    document: page,
    title: page.title,
    root: '../'.repeat(page.output.split('/').length - 1),
    layout: 'page.njk',
    permalink: page.output,
    // The documents are plain Markdown: braces in them are no template.
    templateEngineOverride: 'md',
  }
}

/** The list of sections stands between the title of a page and its text. */
function splitAfterTitle(content: string): { title: string; text: string } {
  const [, title = '', text = ''] = /^([^]*?<\/h1>|)([^]*)$/.exec(content) ?? []
  return { title, text }
}

/** Without the comment that names a source map, which the site does not have. */
function readMiniSearch(): string {
  const code = readFileSync('node_modules/minisearch/dist/umd/index.js', 'utf8')
  return code.replace(/\n?\/\/# sourceMappingURL=.*\s*$/, '\n')
}

function readVersion(): string {
  return (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to)
}

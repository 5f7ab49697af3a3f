// The site of the documentation as it is built: its links, its navigation and the index of its search.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { after, before, describe, test } from 'node:test'
import MiniSearch from 'minisearch'
import { findUnlisted, reference } from '../../site/pages.ts'
import type { Entry } from '../../site/search/entry.ts'
import { DocumentShell } from '../harness/document-shell.ts'
import { BuiltSite, deadLinks, isForeign, linksIn } from './harness/built-site.ts'

function indexOf(site: BuiltSite): MiniSearch<Entry> {
  const text = site.htmlOf('assets/search-index.js').replace(/^globalThis\.searchIndex = /, '')
  const fields = ['page', 'heading', 'text']
  return MiniSearch.loadJSON<Entry>(text, { idField: 'address', fields, storeFields: ['address'] })
}

describe('the site of the documentation', () => {
  let site: BuiltSite
  before(async () => {
    site = await BuiltSite.build()
  })
  after(() => site[Symbol.asyncDispose]())

  test('every document is in a group of site/navigation.json', () => {
    assert.deepEqual(findUnlisted(), [], 'add the document to a group of site/navigation.json')
  })

  test('every page has a file and stands in the navigation of every page', () => {
    const sources = site.pages.map(({ source }) => source)
    for (const source of ['README.md', 'CHANGELOG.md', 'docs/operations.md', 'src/network/README.md']) {
      assert.ok(sources.includes(source), source)
    }
    for (const { output } of site.pages) {
      const [navigation = ''] = /<nav id="pages"[^]*?<\/nav>/.exec(site.htmlOf(output)) ?? []
      const listed = linksIn(output, navigation)
      const missing = [...site.pages, reference].filter(
        (page) => !listed.some(({ link }) => posix.join(posix.dirname(output), link) === page.output),
      )
      assert.deepEqual(missing, [], output)
      assert.equal(navigation.match(/aria-current="page"/g)?.length, 1, `${output} is marked in its navigation`)
    }
  })

  test('the group of the decisions is folded, except on its own pages', () => {
    const isOpen = (name: string) => /<details open>\s*<summary>Decisions/.test(site.htmlOf(name))
    assert.equal(isOpen('index.html'), false)
    assert.equal(isOpen('docs/decisions/001-operations-not-transactions.html'), true)
  })

  test('every page has one main part and one heading of the first level', () => {
    for (const { output } of site.pages) {
      const html = site.htmlOf(output)
      assert.equal(html.match(/<main /g)?.length, 1, output)
      assert.equal(html.match(/<h1 /g)?.length, 1, output)
    }
  })

  test('no link is dead: pages, headings, pictures and files', () => {
    assert.ok(site.links.length > site.pages.length ** 2, 'the links are found')
    assert.deepEqual(deadLinks(site.files, site.links), [])
  })

  test('no page loads anything from another server, and no page has a script or a style inside', () => {
    const pages = [...site.files].filter(([name]) => name.endsWith('.html'))
    for (const [name, html] of pages) {
      const loaded = [...html.matchAll(/<(?:link|script|img|form|iframe)\b[^>]*>/g)].flatMap(([tag]) =>
        linksIn(name, tag),
      )
      assert.deepEqual(loaded.filter(isForeign), [], name)
      assert.doesNotMatch(html, /<style|<[^>]+ (?:style|on\w+)=|<script(?! defer src=)/, name)
    }
    for (const [name, text] of site.files) {
      if (name.endsWith('.css')) assert.doesNotMatch(text, /@import|url\(/, name)
    }
  })

  test('the search finds a word of every page', () => {
    const index = indexOf(site)
    const missing = site.pages.filter(({ title, output }) => {
      const found = index.search(title, { combineWith: 'AND' })
      return !found.some(({ address }) => (address as string).startsWith(`${output}#`))
    })
    assert.deepEqual(missing, [])
    const [best] = index.search('journal trick', { combineWith: 'AND' })
    assert.equal(best?.['address'], 'docs/architecture.html#three-ideas-to-know-first')
  })

  test('the search finds an operation of the API, and its address has an entry in the reference', () => {
    const [best] = indexOf(site).search('wait-ready')
    assert.match(best?.['address'] as string, /^reference\/index\.html#/)
    assert.deepEqual(deadLinks(site.files, [{ from: 'search.html', link: best?.['address'] as string }]), [])
  })

  test('a file that is no page is copied as text, also one that begins with a dot', () => {
    assert.match(site.htmlOf('env.example.txt'), /^# /)
    assert.match(site.htmlOf('LICENSE.txt'), /MIT/)
    assert.ok(site.links.some(({ from, link }) => from === 'index.html' && link === 'env.example.txt'))
  })

  test('the library of the search comes with its licence and without a source map', () => {
    assert.match(site.htmlOf('assets/minisearch-license.txt'), /Permission is hereby granted/)
    assert.match(site.htmlOf('assets/minisearch.js'), /MiniSearch/)
    assert.doesNotMatch(site.htmlOf('assets/minisearch.js'), /sourceMappingURL/)
  })
})

test('a link to a missing page, heading or picture is found', () => {
  const files = new Map([
    ['index.html', '<h2 id="run">'],
    ['docs/a.html', ''],
  ])
  const html =
    '<a href="../index.html#run"><a href="../index.html#stop"><a href="b.html"><img src="b.png"><a href="https://example.com">'
  assert.deepEqual(deadLinks(files, linksIn('docs/a.html', html)), [
    'docs/a.html: ../index.html#stop',
    'docs/a.html: b.html',
    'docs/a.html: b.png',
  ])
})

test('npm run docs builds the site into _site', async () => {
  await using shell = await DocumentShell.open()
  assert.match(await shell.run('npm run docs'), /^\d+ pages\. Open _site\/index\.html/m)
  assert.ok(existsSync(join(shell.folder, '_site/docs/operations.html')))
})

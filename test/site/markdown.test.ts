// How the site reads Markdown: anchors as on GitHub, and links that lead from page to page.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GithubSlugs } from '../../site/markdown/github-slug.ts'
import { SiteLinks } from '../../site/markdown/site-links.ts'

const pageOf = (source: string, output: string) => ({ source, output, title: source, text: '' })
const operations = pageOf('docs/operations.md', 'docs/operations.html')
const newLinks = () =>
  new SiteLinks([operations, pageOf('README.md', 'index.html'), pageOf('src/jobs/README.md', 'src/jobs/index.html')])

test('anchors are those of GitHub', () => {
  const slugs = new GithubSlugs()
  const headings = [
    'What a failed start says',
    'SERVICE_PUBLIC_URL: `a & b`?',
    'Año 2 – línea',
    'Added',
    'Added',
    'Added-1',
    'Added',
  ]
  assert.deepEqual(
    headings.map((heading) => slugs.next(heading)),
    [
      ...['what-a-failed-start-says', 'service_public_url-a--b', 'año-2--línea'],
      ...['added', 'added-1', 'added-1-1', 'added-2'],
    ],
  )
})

test('a link to a document or a folder leads to its page', () => {
  const links = newLinks()
  assert.equal(links.resolve('../README.md#run', operations), '../index.html#run')
  assert.equal(links.resolve('../src/jobs/', operations), '../src/jobs/index.html')
  assert.equal(links.resolve('operations.md', operations), 'operations.html')
  assert.equal(links.resolve('#history', operations), '#history')
  assert.equal(links.resolve('https://example.com/a.md', operations), 'https://example.com/a.md')
  assert.equal(links.copies.size, 0)
})

test('a linked file is copied: a picture as it is, another file as text', () => {
  const links = newLinks()
  assert.equal(links.resolve('../static/brand-asset.png', operations), '../static/brand-asset.png')
  assert.equal(links.resolve('../.env.example', operations), '../env.example.txt')
  assert.deepEqual(
    [...links.copies],
    [
      ['static/brand-asset.png', 'static/brand-asset.png'],
      ['.env.example', 'env.example.txt'],
    ],
  )
})

test('a link to nothing, to a folder without a page or out of the repository ends the build', () => {
  for (const link of ['nowhere.md', '../src/core/', '../../secrets.txt']) {
    assert.throws(() => newLinks().resolve(link, operations), {
      message: `docs/operations.md links to ${link}, which is neither a file nor a folder with a page`,
    })
  }
})

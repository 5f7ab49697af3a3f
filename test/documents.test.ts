// The documents name files that exist, and their tables say each thing once.

import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'

const documents = globSync(['*.md', 'docs/**/*.md', 'src/**/README.md']).map((file) => file.replaceAll('\\', '/'))
const sources = globSync([
  'src/**/*.ts',
  'sim/**/*.ts',
  'cli/**/*.ts',
  'demo/**/*.ts',
  'test/**/*.ts',
  'bench/**/*.ts',
  'scripts/**/*.ts',
  'site/**/*.ts',
])
const names = new Set(sources.map((file) => basename(file)))

/** A path may be written from the root, from `src` or from the folder of the document; a bare name may lie anywhere. */
function exists(path: string, document: string): boolean {
  if (!path.includes('/')) return names.has(path)
  return ['.', 'src', dirname(document)].some((folder) => existsSync(join(folder, path)))
}

function missingIn(document: string, text: string): string[] {
  const named = [...text.matchAll(/`([\w./-]+\.ts)`/g)].map(([, path = '']) => path)
  const linked = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, path = '']) => path)
  return [
    ...named.filter((path) => !exists(path, document)),
    ...linked.filter((path) => !existsSync(join(dirname(document), path))),
  ]
}

/** The first cells that a table has twice. */
function repeatedIn(text: string): string[] {
  const repeated: string[] = []
  let seen = new Set<string>()
  for (const line of text.split('\n')) {
    const cell = /^\|((?:\\.|[^|\\])+)\|/.exec(line)?.[1]?.trim()
    if (cell === undefined) seen = new Set()
    else if (seen.has(cell)) repeated.push(cell)
    else seen.add(cell)
  }
  return repeated
}

for (const document of documents) {
  test(`no table of ${document} has a first cell twice`, () => {
    assert.deepEqual(repeatedIn(readFileSync(document, 'utf8')), [])
  })

  test(`${document} names only files that exist`, () => {
    assert.deepEqual(missingIn(document, readFileSync(document, 'utf8')), [])
  })
}

test('README leads to every page of docs/', () => {
  const readme = readFileSync('README.md', 'utf8')
  const pages = documents.filter((document) => /^docs\/[^/]+$/.test(document))
  assert.deepEqual(
    pages.filter((page) => !readme.includes(`](${page})`)),
    [],
  )
})

test('a file that does not exist is found', () => {
  const text = 'see `core/nowhere.ts`, `core/ids.ts`, `ids.ts` and [this](nowhere.md)'
  assert.deepEqual(missingIn('docs/architecture.md', text), ['core/nowhere.ts', 'nowhere.md'])
})

test('a first cell that a table repeats is found', () => {
  const table = (...cells: string[]) => cells.map((cell) => `| ${cell} | text |\n`).join('')
  const text = `${table('name', '----', 'a', 'b \\| c', 'a', 'b \\| d')}\n${table('name', '----', 'b')}`
  assert.deepEqual(repeatedIn(text), ['a'])
})

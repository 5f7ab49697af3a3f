// The documents name files that exist.

import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'

const documents = globSync(['*.md', 'docs/**/*.md', 'src/**/README.md']).map((file) => file.replaceAll('\\', '/'))
const sources = globSync(['src/**/*.ts', 'sim/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.ts'])
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

for (const document of documents) {
  test(`${document} names only files that exist`, () => {
    assert.deepEqual(missingIn(document, readFileSync(document, 'utf8')), [])
  })
}

test('a file that does not exist is found', () => {
  const text = 'see `core/nowhere.ts`, `core/ids.ts`, `ids.ts` and [this](nowhere.md)'
  assert.deepEqual(missingIn('docs/architecture.md', text), ['core/nowhere.ts', 'nowhere.md'])
})

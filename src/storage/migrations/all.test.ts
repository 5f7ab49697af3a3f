import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { migrations } from './all.ts'

test('the migrations are the numbered files of this folder, in order, each under the name of its file', () => {
  const files = readdirSync(import.meta.dirname).filter((file) => /^\d{3}-/.test(file))
  assert.ok(files.length > 0)
  assert.deepEqual(
    migrations.map(({ version, name }) => `${String(version).padStart(3, '0')}-${name.replaceAll(' ', '-')}.ts`),
    files.sort(),
  )
})

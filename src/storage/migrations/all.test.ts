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

test('every migration says whether processes of the build before may run beside it', () => {
  const silent = migrations.filter(({ besides }) => typeof besides !== 'boolean')
  assert.deepEqual(silent, [])
})

test('a migration beside which the build before may run takes no table and no column away', () => {
  const takesAway = /\b(DROP (TABLE|COLUMN)|RENAME|ALTER COLUMN|SET NOT NULL)\b/i
  const lying = migrations.filter(
    ({ besides, sqlite, postgres }) =>
      besides && [...sqlite, ...postgres].some((statement) => takesAway.test(statement)),
  )
  assert.deepEqual(lying, [])
})

test('no migration changes a setting of its connection, which a pooler gives to another client', () => {
  const leaks = /^\s*SET (?!LOCAL)/im
  const leaking = migrations.filter(({ postgres }) => postgres.some((statement) => leaks.test(statement)))
  assert.deepEqual(leaking, [])
})

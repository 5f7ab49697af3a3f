import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { notThroughStranger, throughStranger } from '../../scripts/stranger-files.ts'

test('every end-to-end test says whether it runs through a node that holds nothing', () => {
  const files = globSync('test/e2e/**/*.test.ts').map((file) => file.replaceAll('\\', '/'))
  const listed = [...throughStranger, ...notThroughStranger]
  assert.deepEqual(listed.sort(), files.sort(), 'each file is on one list of scripts/stranger-files.ts')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noAnchor } from './history-imports.ts'

test('a phone that was not asked for its history is asked when the account is linked again', () => {
  assert.match(noAnchor({ askedDays: 0 }).message, /pair again/)
  assert.doesNotMatch(noAnchor({ askedDays: 7 }).message, /pair again/)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noAnchor, notReady } from './history-imports.ts'

test('the refusal of an instance that is not ready names the cure', () => {
  assert.match(notReady('connecting').message, /is connecting: wait until it is ready$/)
  assert.match(notReady('logged_out').message, /is logged_out: link the account again$/)
  assert.match(notReady('qr_pending').message, /is qr_pending: link the account$/)
})

test('a phone that was not asked for its history is asked when the account is linked again', () => {
  assert.match(noAnchor({ askedDays: 0 }).message, /pair again/)
  assert.doesNotMatch(noAnchor({ askedDays: 7 }).message, /pair again/)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { notReady } from './not-ready.ts'

test('the refusal of an instance that is not ready names the cure', () => {
  assert.match(notReady('connecting').message, /is connecting: wait until it is ready$/)
  assert.match(notReady('logged_out').message, /is logged_out: link the account again$/)
  assert.match(notReady('qr_pending').message, /is qr_pending: link the account$/)
})

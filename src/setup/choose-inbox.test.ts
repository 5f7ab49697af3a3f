import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseInbox } from './choose-inbox.ts'

const inboxes = (tenant: number, instance: number, standard: number) => ({ tenant, instance, standard })

test('the tenant outranks the instance, which outranks the setting', () => {
  assert.deepEqual(chooseInbox(inboxes(1, 2, 3), null), { id: 1, source: 'tenant', isInUse: true })
  assert.deepEqual(chooseInbox(inboxes(0, 2, 3), null), { id: 2, source: 'instance', isInUse: true })
  assert.deepEqual(chooseInbox(inboxes(0, 0, 3), null), { id: 3, source: 'standard', isInUse: true })
  assert.equal(chooseInbox(inboxes(0, 0, 0), null), null)
})

test('the inbox that the caller asks for counts, unless the tenant has another one', () => {
  assert.deepEqual(chooseInbox(inboxes(0, 2, 3), 7), { id: 7, source: 'request', isInUse: false })
  assert.deepEqual(chooseInbox(inboxes(0, 2, 3), 2), { id: 2, source: 'request', isInUse: true })
  assert.deepEqual(chooseInbox(inboxes(0, 2, 3), 3), { id: 3, source: 'request', isInUse: false })
  assert.deepEqual(chooseInbox(inboxes(0, 0, 3), 3), { id: 3, source: 'request', isInUse: true })
  assert.deepEqual(chooseInbox(inboxes(1, 2, 3), 1), { id: 1, source: 'tenant', isInUse: true })
  assert.throws(() => chooseInbox(inboxes(1, 2, 3), 2), /has inbox 1, which outranks inbox 2/)
})

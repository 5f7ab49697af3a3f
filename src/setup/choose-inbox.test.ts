import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseInbox } from './choose-inbox.ts'

/** In the account of the settings, unless told otherwise. */
function choose(tenant: number, instance: number, standard: number, asked: number | null, isStandard = true) {
  const chosen = chooseInbox({ inboxes: { tenant, instance, standard }, isStandard }, asked)
  return chosen && { id: chosen.id, source: chosen.source, isInUse: chosen.isInUse }
}

test('the tenant outranks the instance, which outranks the setting', () => {
  assert.deepEqual(choose(1, 2, 3, null), { id: 1, source: 'tenant', isInUse: true })
  assert.deepEqual(choose(0, 2, 3, null), { id: 2, source: 'instance', isInUse: true })
  assert.deepEqual(choose(0, 0, 3, null), { id: 3, source: 'standard', isInUse: true })
  assert.deepEqual(choose(0, 0, 3, null, false), { id: 3, source: 'standard', isInUse: true })
  assert.equal(choose(0, 0, 0, null), null)
})

test('the inbox that the caller asks for counts, unless the tenant has another one', () => {
  assert.deepEqual(choose(0, 2, 3, 7), { id: 7, source: 'request', isInUse: false })
  assert.deepEqual(choose(0, 2, 3, 2), { id: 2, source: 'request', isInUse: true })
  assert.deepEqual(choose(0, 2, 3, 3), { id: 3, source: 'request', isInUse: false })
  assert.deepEqual(choose(0, 0, 3, 3), { id: 3, source: 'request', isInUse: true })
  assert.deepEqual(choose(1, 2, 3, 1), { id: 1, source: 'tenant', isInUse: true })
  assert.throws(() => choose(1, 2, 3, 2), /has inbox 1, which outranks inbox 2/)
})

test('a new inbox may take the place of that of the instance, and of the setting in another account', () => {
  const isReplaceable = (instance: number, standard: number, asked: number | null, isStandard: boolean) =>
    chooseInbox({ inboxes: { tenant: 0, instance, standard }, isStandard }, asked)?.isReplaceable
  assert.deepEqual(
    [isReplaceable(2, 3, null, true), isReplaceable(0, 3, null, false), isReplaceable(0, 3, null, true)],
    [true, true, false],
  )
  assert.deepEqual([isReplaceable(2, 3, 2, true), isReplaceable(0, 3, 3, false)], [false, false])
})

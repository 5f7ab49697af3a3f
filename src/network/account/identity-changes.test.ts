// Who got a new identity: by which names, and what is stored about it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../lib/clock.ts'
import { silentLog } from '../../../test/harness/logs.ts'
import { AccountKeys } from './account-keys.ts'
import { changedIdentities, IdentityChanges, personOfSession } from './identity-changes.ts'
import { nodeHold } from '../../../test/harness/holds.ts'

function stage() {
  const keys = new AccountKeys({
    keys: { load: () => Promise.resolve([]), save: () => Promise.resolve() },
    sessionId: 's',
    hold: nodeHold(),
    clock: systemClock,
    log: silentLog,
    onFenced: () => undefined,
  })
  const identities = new IdentityChanges(keys)
  const note = (phone: string | null, lid: string | null) => keys.runStep(() => identities.noteInStep({ phone, lid }))
  return { keys, identities, note }
}

test('a new identity has a mark of its own, by both names of the person', async () => {
  const { keys, identities, note } = stage()
  await keys.set({ 'lid-mapping': { '5511888880001': '200000000000001', '200000000000001_reverse': '5511888880001' } })
  assert.deepEqual(await identities.marksOf([['5511888880001']]), {})
  const names = ['5511888880001', '200000000000001']
  assert.deepEqual(await note('5511888880001', null), names)
  const first = await identities.marksOf(names.map((name) => [name]))
  assert.deepEqual(Object.keys(first).toSorted(), names.toSorted())
  await note(null, '200000000000001')
  const second = await identities.marksOf(names.map((name) => [name]))
  for (const name of names) assert.notEqual(second[name], first[name])
  assert.equal(identities.revision, 2)
  assert.deepEqual(await identities.marksOf([['5511888880009', '200000000000009']]), {})
})

test('a member is found by any name', async () => {
  const { identities, note } = stage()
  await note('5511888880001', null)
  const marks = await identities.marksOf([['200000000000001', '5511888880001']])
  assert.deepEqual(Object.keys(marks), ['200000000000001'])
})

test('the sessions of the phone and of its companions are dropped', async () => {
  const { keys, identities } = stage()
  const sessions = {
    '5511888880001.0': {},
    '200000000000001_1.0': {},
    '200000000000001_1.7': {},
    '5511888880002.0': {},
  }
  await keys.set({ session: sessions, 'device-list': { '200000000000001': ['0', '7'] } })
  const person = { phone: '5511888880001', lid: '200000000000001' }
  await keys.runStep(() => identities.dropSessionsInStep(person, (device) => device !== 0))
  const left = await keys.get('session', Object.keys(sessions))
  assert.deepEqual(Object.keys(left).toSorted(), ['200000000000001_1.0', '5511888880001.0', '5511888880002.0'])
})

test('the person gets our privacy token again', async () => {
  const { keys, identities } = stage()
  const token = Buffer.from('theirs')
  await keys.set({ tctoken: { '200000000000001@lid': { token, timestamp: '5', senderTimestamp: 7 } } })
  const person = { phone: '5511888880001', lid: '200000000000001' }
  await keys.runStep(() => identities.forgetTokenInStep(person))
  const stored = await keys.get('tctoken', ['200000000000001@lid', '5511888880001@s.whatsapp.net'])
  assert.deepEqual(stored, { '200000000000001@lid': { token, timestamp: '5' } })
})

test('the library drops a session only together with a replaced identity', () => {
  const key = Buffer.alloc(33)
  assert.deepEqual(changedIdentities({ session: { '1.0': null }, 'identity-key': { '1.0': key } }), ['1.0'])
  assert.deepEqual(changedIdentities({ 'identity-key': { '1.0': key } }), [])
  assert.deepEqual(changedIdentities({ session: { '1.0': null } }), [])
  assert.deepEqual(personOfSession('200000000000001_1.7'), { phone: null, lid: '200000000000001' })
  assert.deepEqual(personOfSession('5511888880001.0'), { phone: '5511888880001', lid: null })
})

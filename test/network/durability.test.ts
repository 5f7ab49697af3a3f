// What is acknowledged is stored: storage that fails, a lease that was lost, keys that come before their publication.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textOfMessage } from '../../sim/network/people/received-message.ts'
import { NotHeldError } from '../../src/core/nodes/hold.ts'
import { decodeKey } from '../../src/network/account/key-codec.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import type { SessionKeyStore } from '../../src/storage/stores/accounts/session-key-store.ts'
import { holdOf, nodeHold } from '../harness/holds.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { Bed } from './harness/bed.ts'
import { FailingKeys } from './harness/failing-keys.ts'
import { plain } from './harness/contents.ts'
import type { NetworkDeps } from './harness/network-room.ts'

type Counters = { nextPreKeyId: number; firstUnuploadedPreKeyId: number }

async function storedCounters(bed: Bed): Promise<Counters> {
  const [creds] = await bed.store.load('s', 'creds', ['creds'])
  return decodeKey('creds', creds?.value ?? Buffer.from('{}')) as Counters
}

test('while storage fails for ten seconds nothing is acknowledged, nothing is lost and no ratchet is damaged', async () => {
  const clock = new ManualClock()
  let keys!: FailingKeys
  await using bed = await Bed.open({ clock, keys: (store) => (keys = new FailingKeys(store)) })
  const phone = await bed.linked('s')
  const people = ['5511888880001', '5511888880002', '5511888880003'].map((each) => bed.sim.person({ phone: each }))
  const [bob] = people
  assert.ok(bob)
  const group = bed.sim.group('Team', bob, [phone, ...people.slice(1)])
  const { session } = await bed.online('s')
  for (const person of people) {
    person.text(phone, 'warm up')
    person.text(group, 'warm up')
    await session.send(person.user.pnJid, plain('warm up'), `3EB0WARM${person.user.phone}`)
  }
  await waitUntil('all is confirmed', () => phone.companion.books.size === 0)

  keys.down = true
  const ids = people.flatMap((person) => [person.text(phone, 'to you').id, person.text(group, 'to all').id])
  const sent = people.map((person) =>
    session.send(person.user.pnJid, plain('held back'), `3EB0HELD${person.user.phone}`),
  )
  const settled = new Set<number>()
  sent.forEach((each, index) => {
    each.then(
      () => settled.add(index),
      () => settled.add(index),
    )
  })
  await waitUntil('storage has refused', () => keys.refused > 0)
  for (let second = 0; second < 10; second++) await clock.advance(1_000)
  assert.ok(keys.refused > 3, 'storage was asked again and again')
  assert.deepEqual(phone.companion.books.unacknowledgedIds().sort(), [...ids].sort())
  assert.equal(settled.size, 0)

  keys.down = false
  await waitUntil('the held messages have left', async () => {
    await clock.advance(500)
    return settled.size === sent.length
  })
  await Promise.all(sent)
  await waitUntil('all is confirmed', () => phone.companion.books.size === 0)
  for (const person of people) {
    await person.messages.waitFor('the held message', (one) => textOfMessage(one.message) === 'held back')
    await session.send(person.user.pnJid, plain('afterwards'), `3EB0AFTER${person.user.phone}`)
    person.text(phone, 'afterwards')
    person.text(group, 'afterwards')
  }
  await waitUntil('all is confirmed', () => phone.companion.books.size === 0)
  const receipts = people.flatMap((person) => person.receipts.entries)
  assert.equal(receipts.filter(({ type }) => type === 'retry').length, 0)
  assert.equal(phone.companion.books.settled.nack, 0)
  assert.equal(
    people.reduce((sum, person) => sum + person.undecryptable.length, 0),
    0,
  )
})

test('`paired` waits for storage, and so does `closed`', async () => {
  const clock = new ManualClock()
  let keys!: FailingKeys
  await using bed = await Bed.open({ clock, keys: (store) => (keys = new FailingKeys(store)) })
  const phone = bed.sim.account({ phone: '5511999990001' })
  const line = await bed.dial('s')
  const qr = await line.qr()
  keys.down = true
  const linked = phone.scan(qr)
  await waitUntil('storage has refused twice', async () => {
    await clock.advance(100)
    return keys.refused > 1
  })
  assert.deepEqual(line.kinds, ['qr'])
  assert.equal(phone.companions.length, 0, 'the network has not been told yet')
  keys.down = false
  await clock.advanceUntil(linked)
  await line.closing()
  assert.deepEqual(line.kinds, ['qr', 'paired', 'closed'])
  await bed.online('s')
})

test('a process whose lease was taken writes nothing and closes its connection', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const line = await bed.online('s')
  bob.text(phone, 'before')
  await waitUntil('it is confirmed', () => phone.companion.books.size === 0)
  const leases = new LeaseStore(bed.database)
  await leases.release('test', bed.epoch)
  const next = await leases.acquire('somebody else', 600_000)
  assert.equal(next, bed.epoch + 1)
  const before = await storedCounters(bed)
  const { id } = bob.text(phone, 'too late')
  const { cause, reason } = await line.closing()
  assert.equal(cause, 'transient')
  assert.match(reason, /another process/)
  assert.deepEqual(phone.companion.books.unacknowledgedIds(), [id])
  assert.deepEqual(await storedCounters(bed), before)
  await assert.rejects(bed.network.forget({ sessionId: 's', instance: 'a' }), { failure: 'expectation' })
})

test('a process whose lease was taken does not connect again', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  await bed.linked('other', '5511999990002')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const line = await bed.online('s')
  const leases = new LeaseStore(bed.database)
  await leases.release('test', bed.epoch)
  await leases.acquire('somebody else', 600_000)
  bob.text(phone, 'too late')
  await line.closing()
  const { loginAttempts } = bed.sim
  for (const session of ['s', 'other']) await assert.rejects(bed.dial(session), NotHeldError)
  assert.equal(bed.sim.loginAttempts, loginAttempts)
})

test('a process that has lost one account goes on with the others', async () => {
  let isLost = false
  const keys = (store: SessionKeyStore): NetworkDeps['keys'] => ({
    load: (...key) => store.load(...key),
    idsOf: (...kind) => store.idsOf(...kind),
    dropSession: (...session) => store.dropSession(...session),
    save: (hold, sessionId, ...writes) =>
      store.save(isLost && sessionId === 's' ? nodeHold(hold.epoch + 1) : hold, sessionId, ...writes),
  })
  // Each account has a right of its own.
  const network = { holdOf: (instance: string) => ({ ...holdOf(instance), node: instance }) }
  await using bed = await Bed.open({ keys, network })
  const phone = await bed.linked('s')
  const neighbour = await bed.linked('other', '5511999990002')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const line = await bed.online('s')
  const other = await bed.online('other')
  isLost = true
  bob.text(phone, 'too late')
  await line.closing()
  await assert.rejects(bed.dial('s'), NotHeldError)
  const { id } = bob.text(neighbour, 'in time')
  await bed.event(id)
  await other.session.close()
  await bed.online('other')
})

test('prekeys and the counter behind them are stored together, before they are published', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const { keys } = phone.companion
  await bed.online('s')
  const before = keys.preKeys.length
  let stored: Promise<Counters> | undefined
  bed.sim.router.override('encrypt set registration', () => {
    stored = storedCounters(bed)
    return null
  })
  const attributes = { from: '@s.whatsapp.net', type: 'encrypt', id: '1', t: '0' }
  const count = { tag: 'count', attrs: { value: '4' } }
  phone.companion.connection?.send({ tag: 'notification', attrs: attributes, content: [count] })
  await waitUntil('prekeys were published', () => keys.preKeys.length > before)
  const newest = keys.preKeys.at(-1)?.id ?? 0
  const counters = await (stored ?? storedCounters(bed))
  assert.deepEqual([counters.nextPreKeyId, counters.firstUnuploadedPreKeyId], [newest + 1, newest + 1])
  const published = keys.preKeys.slice(before).map(({ id }) => String(id))
  assert.equal((await bed.store.load('s', 'pre-key', published)).length, published.length)
})

test('a shutdown does not wait for storage that is away, and acknowledges nothing', async () => {
  const clock = new ManualClock()
  let keys!: FailingKeys
  await using bed = await Bed.open({ clock, keys: (store) => (keys = new FailingKeys(store)) })
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  await bed.online('s')
  keys.down = true
  const { id } = bob.text(phone, 'held')
  await waitUntil('storage has refused', () => keys.refused > 0)
  await clock.advanceUntil(bed.network[Symbol.asyncDispose]())
  assert.deepEqual(phone.companion.books.unacknowledgedIds(), [id])
})

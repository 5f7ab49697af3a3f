// Ordinary messages are opened without the library: they share commits, keep their order and are confirmed when they are stored.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ignoreRejection } from '../../../src/lib/ignore.ts'
import { encodeKey } from '../../../src/network/account/key-codec.ts'
import type { SessionKeyStore } from '../../../src/storage/stores/accounts/session-key-store.ts'
import type { NetworkDeps } from '../harness/network-room.ts'
import { holdOf } from '../../harness/holds.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'
import { HeldKeys } from '../harness/held-keys.ts'

/** Counts the commits that store keys of sessions. */
function counting(store: SessionKeyStore): { keys: NetworkDeps['keys']; commits: () => number } {
  let commits = 0
  const keys: NetworkDeps['keys'] = {
    load: store.load.bind(store),
    idsOf: store.idsOf.bind(store),
    dropSession: store.dropSession.bind(store),
    save: async (...args) => {
      if (args[2].some(({ kind }) => kind === 'session')) commits++
      await store.save(...args)
    },
  }
  return { keys, commits: () => commits }
}

test('messages of an account that arrive together share commits', async () => {
  let counted!: ReturnType<typeof counting>
  await using bed = await Bed.open({ keys: (store) => (counted = counting(store)).keys })
  const phone = await bed.linked('s')
  const people = ['5511888880001', '5511888880002'].map((each) => bed.sim.person({ phone: each }))
  await bed.online('s')
  for (const person of people) await bed.event(person.text(phone, 'first').id)
  const before = counted.commits()
  const written = Array.from({ length: 40 }, (_, n) => people[n % 2]?.text(phone, `message ${n}`).id ?? '')
  await waitUntil('all are confirmed', () => phone.companion.books.size === 0)
  const received = bed.received.entries.map(({ event }) => event.id).slice(people.length)
  for (const turn of [0, 1]) {
    const ofPerson = written.filter((_, n) => n % 2 === turn)
    assert.deepEqual(
      received.filter((id) => ofPerson.includes(id)),
      ofPerson,
      'in the order of their arrival',
    )
  }
  assert.ok(counted.commits() - before <= 20, `40 messages needed ${counted.commits() - before} commits`)
})

test('no message is confirmed before it is stored, also when later ones are open already', async () => {
  const held = new HeldKeys()
  await using bed = await Bed.open({ keys: (store) => held.in(store) })
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const { session } = await bed.online('s')
  await bed.event(bob.text(phone, 'first').id)
  await waitUntil('the first message is confirmed', () => phone.companion.books.size === 0)

  const { reached, release } = held.hold(({ kind }) => kind === 'session')
  const written = [1, 2, 3].map((n) => bob.text(phone, `message ${n}`).id)
  await reached
  // A receipt that left before one of these questions arrives before its answer.
  for (let round = 0; round < 3; round++) await session.probe(60_000)
  assert.deepEqual(phone.companion.books.unacknowledgedIds().sort(), [...written].sort())
  release()
  await waitUntil('all are confirmed', () => phone.companion.books.size === 0)
  const received = bed.received.entries.map(({ event }) => event.id)
  assert.deepEqual(received.slice(1), written)
})

test('while storage hangs, at most 200 messages are open and not stored', async () => {
  const held = new HeldKeys()
  const statements: number[] = []
  const keys = (store: SessionKeyStore): NetworkDeps['keys'] => {
    const inner = held.in(store)
    return {
      ...inner,
      save: (...args) => {
        statements.push(args[3]?.length ?? 0)
        return inner.save(...args)
      },
    }
  }
  await using bed = await Bed.open({ keys })
  const phone = await bed.linked('s')
  const people = Array.from({ length: 5 }, (_, n) => bed.sim.person({ phone: `551188888000${n}` }))
  const { session } = await bed.online('s')
  for (const person of people) await bed.event(person.text(phone, 'first').id)
  await waitUntil('the first messages are confirmed', () => phone.companion.books.size === 0)

  const { reached, release } = held.hold(({ kind }) => kind === 'session')
  const written = Array.from({ length: 260 }, (_, n) => people[n % 5]?.text(phone, `message ${n}`).id ?? '')
  await reached
  // Each answer comes after the messages, and the messages are opened meanwhile.
  for (let round = 0; round < 20; round++) await session.probe(60_000)
  const before = statements.length
  release()
  await waitUntil('all are confirmed', () => phone.companion.books.size === 0)
  // A fingerprint and a row for each message. At least one message is in the commit that hangs.
  assert.ok((statements[before] ?? 0) < 2 * 200, `a commit with ${statements[before]} statements`)
  const received = bed.received.entries.map(({ event }) => event.id).slice(people.length)
  assert.deepEqual([...received].sort(), [...written].sort())
})

test('a message that cannot be opened is left to the library, which asks for it again', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  await bed.online('s')
  await bed.event(bob.text(phone, 'first').id)
  await waitUntil('the first message is confirmed', () => phone.companion.books.size === 0)
  bed.sim.fault({ kind: 'undecryptable' })
  const damaged = bob.text(phone, 'damaged').id
  const next = bob.text(phone, 'next').id
  await bed.received.waitFor('it', ({ event }) => event.id === damaged && event.kind === 'message')
  await waitUntil('all are confirmed', () => phone.companion.books.size === 0)
  const told = bed.received.entries.map(({ event }) => [event.kind, event.id])
  assert.deepEqual(told.slice(1, 3), [
    ['undecryptable', damaged],
    ['message', next],
  ])
  assert.equal(told.filter(([, id]) => id === next).length, 1)
})

test('a message without a session under its address is left to the library, which finds the session under the other one', async () => {
  await using bed = await Bed.open({ sim: { addressing: 'lid' } })
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const line = await bed.online('s')
  // Without a one-time key, each of the first messages of a session could open the session again.
  phone.companion.keys.preKeys.length = 0
  await bed.event(bob.text(phone, 'first').id)
  await waitUntil('the first message is confirmed', () => phone.companion.books.size === 0)
  await line.session.close()

  // The same account, whose session was begun before the phone number and the LID were known as a pair.
  const [underLid = ''] = await bed.store.idsOf('s', 'session')
  for (const kind of ['creds', 'session', 'identity-key', 'lid-mapping']) {
    const stored = await bed.store.load('s', kind, await bed.store.idsOf('s', kind))
    const moved = stored.map((key) =>
      key.id === underLid && kind === 'session' ? { ...key, id: '5511888880001.0' } : key,
    )
    await bed.store.save(holdOf('a', bed.epoch), 't', moved)
  }
  const devices = { kind: 'device-list', id: '5511888880001', value: encodeKey('device-list', ['0']) }
  await bed.store.save(holdOf('a', bed.epoch), 't', [devices])
  await bed.online('t')
  await bed.event(bob.text(phone, 'second').id)
  assert.deepEqual(await bed.store.idsOf('t', 'session'), [underLid])
})

test('the name that a person uses in an ordinary message is reported, and again only when it is another one or was not stored', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001', pushName: 'Bob' })
  await bed.online('s')
  const reported = async (text: string) => {
    const before = bed.names.length
    const { id } = bob.text(phone, text)
    await bed.event(id)
    await waitUntil('the message is confirmed', () => phone.companion.books.size === 0)
    return bed.names.slice(before).map(({ pushName }) => pushName)
  }
  await reported('through the library')
  assert.deepEqual(await reported('first'), ['Bob'])
  assert.deepEqual(await reported('second'), [])
  bob.user.pushName = 'Robert'
  bed.storingNames = Promise.reject(new Error('storage is away'))
  bed.storingNames.catch(ignoreRejection)
  assert.deepEqual(await reported('third'), ['Robert'])
  bed.storingNames = undefined
  assert.deepEqual(await reported('fourth'), ['Robert'])
  assert.deepEqual(await reported('fifth'), [])
})

// What the library swallows or confirms by itself is stored all the same: before it is confirmed, once, and in order.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import type { FileAuthor } from '../../../sim/network/people/file-author.ts'
import { stanza } from '../../../sim/network/wire/stanza.ts'
import type { NetworkEvent } from '../../../src/core/message.ts'
import type { SessionKeyStore } from '../../../src/storage/stores/accounts/session-key-store.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'
import { FailingKeys } from '../harness/failing-keys.ts'

const bobNumber = '5511888880001'

function kinds(bed: Bed): NetworkEvent['kind'][] {
  return bed.received.entries.map(({ event }) => event.kind)
}

test('a message to be seen once on the phone is announced', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: bobNumber })
  await bed.online('s')
  const event = await bed.event(bob.viewOnce(phone))
  assert.ok(event.kind === 'message')
  assert.deepEqual(event.content, { type: 'view_once', media: null })
  assert.equal(event.sender.phone, bobNumber)
})

test('a message with an unknown seal, or without one, is announced and holds up no other message', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: bobNumber })
  await bed.online('s')
  await bed.event(bob.text(phone, 'warm up').id)
  const about = { from: `${bobNumber}@s.whatsapp.net`, t: '1700000000', type: 'text' }
  const strange = stanza('enc', { v: '2', type: 'frskmsg' }, Buffer.from('whatever'))
  phone.companion.deliver(stanza('message', { ...about, id: 'STRANGE' }, [strange]))
  phone.companion.deliver(stanza('message', { ...about, id: 'EMPTY' }, [stanza('enc', { v: '2', type: 'msg' })]))
  const next = bob.text(phone, 'next').id
  for (const [id, reason] of [
    ['STRANGE', 'frskmsg'],
    ['EMPTY', 'msg'],
  ] as const) {
    const event = await bed.event(id)
    assert.ok(event.kind === 'undecryptable')
    assert.deepEqual([event.reason, event.sender.phone], [reason, bobNumber])
  }
  await bed.event(next)
})

test('a message that cannot be opened is announced at once, and its content follows under the same id', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: bobNumber })
  await bed.online('s')
  await bed.event(bob.text(phone, 'warm up').id)
  bed.sim.fault({ kind: 'undecryptable' })
  const { id } = bob.text(phone, 'damaged')
  await bed.received.waitFor('the content', ({ event }) => event.id === id && event.kind === 'message')
  const told = bed.received.entries.map(({ event }) => event).filter((event) => event.id === id)
  assert.deepEqual(
    told.map(({ kind }) => kind),
    ['undecryptable', 'message'],
  )
})

test('a call that the owner takes on the phone rings, and is not missed when it ends', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: bobNumber, lid: '100000000000001' })
  await bed.online('s')
  const call = bob.call(phone)
  await bed.event(call.id)
  const from = bob.user.jid('lid')
  const accept = { tag: 'accept', attrs: { 'call-id': call.id, 'call-creator': from } }
  phone.companion.connection?.send({ tag: 'call', attrs: { from, id: 'accepted', t: '1' }, content: [accept] })
  call.end()
  await bed.event(bob.text(phone, 'good talk').id)
  assert.deepEqual(kinds(bed), ['call', 'message'])
})

test('calls ring and are missed, changes of groups are told with who made them', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: bobNumber, lid: '100000000000001', pushName: 'Bob' })
  const eve = bed.sim.person({ phone: '5511888880002', lid: '100000000000002' })
  await bed.online('s')
  const call = bob.call(phone, { video: true })
  await bed.event(call.id)
  call.end(true)
  await waitUntil('both words are stored', () => kinds(bed).length === 2)
  const [rings, missed] = bed.received.entries.map(({ event }) => event)
  const sender = { phone: bobNumber, lid: '100000000000001' }
  const common = { kind: 'call', id: call.id, chat: { kind: 'person', ...sender }, sender, fromMe: false, video: true }
  const caller = '100000000000001@lid'
  assert.deepEqual(rings, { ...common, at: rings?.at, pushName: 'Bob', missed: false, caller })
  assert.deepEqual(missed, { ...common, at: missed?.at, pushName: 'Bob', missed: true })

  const group = bed.sim.group('Team', bob, [phone])
  const { user } = bob
  group.change(user, 'add', eve.user)
  group.setSubject(user, 'Crew')
  group.setAnnounce(user, true)
  group.setEphemeral(user, 60)
  group.change(user, 'promote', eve.user)
  group.leave(eve.user)
  const people = [{ phone: '5511888880002', lid: '100000000000002' }]
  await waitUntil('all changes are stored', () => kinds(bed).filter((kind) => kind === 'group').length === 7)
  const events = bed.received.entries.flatMap(({ event }) => (event.kind === 'group' ? [event] : []))
  assert.deepEqual(
    events.flatMap(({ changes }) => changes),
    [
      { change: 'created', name: 'Team' },
      { change: 'add', people },
      { change: 'subject', subject: 'Crew' },
      { change: 'announce', on: true },
      { change: 'ephemeral', seconds: 60 },
      { change: 'promote', people },
      { change: 'leave', people },
    ],
  )
  assert.ok(events.slice(0, 6).every((event) => event.sender.phone === bobNumber && event.chat.kind === 'group'))
})

test('the backlog and what comes live are received in the order they were written', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: bobNumber })
  const group = bed.sim.group('Team', bob, [phone])
  const written = [bob.text(group, 'first').id]
  for (let n = 0; n < 10; n++) written.push(bob.text(n % 2 ? phone : group, `waiting ${n}`).id)
  written.push(bob.viewOnce(phone), bob.call(phone).id)
  const line = await bed.dial('s')
  await line.signal('authenticated')
  for (let n = 0; n < 5; n++) written.push(bob.text(group, `live ${n}`).id)
  for (const id of written) await bed.event(id)
  const ids = bed.received.entries.filter(({ event }) => event.kind !== 'group').map(({ event }) => event.id)
  assert.deepEqual(ids, written)
})

test('while storage is away nothing is confirmed, notices included; then everything is received once', async () => {
  const clock = new ManualClock()
  let keys!: FailingKeys
  await using bed = await Bed.open({ clock, keys: (store) => (keys = new FailingKeys(store)) })
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: bobNumber })
  const group = bed.sim.group('Team', bob, [phone])
  await bed.online('s')
  await bed.event(bob.text(phone, 'warm up').id)
  await bed.event(bob.text(group, 'warm up').id)
  await waitUntil('all is confirmed', () => phone.companion.books.size === 0)
  const before = bed.received.length
  keys.down = true
  const ids = [bob.text(phone, 'one').id, bob.viewOnce(phone), bob.text(group, 'two').id, bob.call(phone).id]
  group.setSubject(bob.user, 'Crew')
  await waitUntil('storage has refused', () => keys.refused > 0)
  for (let second = 0; second < 10; second++) await clock.advance(1_000)
  assert.equal(phone.companion.books.size, ids.length + 1)
  assert.equal(bed.received.length, before)
  keys.down = false
  await waitUntil('all is confirmed', async () => {
    await clock.advance(500)
    return phone.companion.books.size === 0
  })
  assert.deepEqual(
    bed.received
      .after(before)
      .map(({ event }) => event.kind)
      .toSorted(),
    ['call', 'group', 'message', 'message', 'message'],
  )
})

test('a notice that comes again because its confirmation was lost is received once', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: bobNumber })
  const group = bed.sim.group('Team', bob, [phone])
  const first = await bed.online('s')
  await waitUntil('all is confirmed', () => phone.companion.books.size === 0)
  const before = bed.received.length
  bed.sim.fault({ kind: 'drop_on', tag: 'ack' })
  group.setSubject(bob.user, 'Crew')
  await first.closing()
  bed.sim.fault({ kind: 'drop_on', tag: 'ack' })
  bob.viewOnce(phone)
  await (await bed.dial('s')).closing()
  await bed.online('s')
  await waitUntil('all is confirmed', () => phone.companion.books.size === 0)
  assert.deepEqual(
    bed.received.after(before).map(({ event }) => event.kind),
    ['group', 'message'],
  )
})

for (const [what, write] of [
  ['a notice', (bob: FileAuthor, phone: SimPhone) => void bob.viewOnce(phone)],
  ['a message', (bob: FileAuthor, phone: SimPhone) => void bob.text(phone, 'hello')],
] as const) {
  test(`${what} that comes again while it is still being stored is not confirmed before it is`, async () => {
    let disk: Promise<unknown> = Promise.resolve()
    const keys = (store: SessionKeyStore) => ({
      load: store.load.bind(store),
      idsOf: store.idsOf.bind(store),
      dropSession: store.dropSession.bind(store),
      save: async (...write: Parameters<SessionKeyStore['save']>) => {
        await disk
        await store.save(...write)
      },
    })
    await using bed = await Bed.open({ keys })
    const phone = await bed.linked('s')
    const bob = bed.sim.person({ phone: bobNumber })
    const first = await bed.online('s')
    await waitUntil('all is confirmed', () => phone.companion.books.size === 0)
    const before = bed.received.length
    const { promise, resolve } = Promise.withResolvers()
    disk = promise
    write(bob, phone)
    await first.session.probe(60_000)
    await first.session.close()
    const { session } = await bed.dial('s')
    await waitUntil('it has come again', () => phone.companion.books.redelivered > 0)
    for (let n = 0; n < 3; n++) await session.probe(60_000)
    assert.equal(phone.companion.books.size, 1)
    resolve(undefined)
    await waitUntil('all is confirmed', () => phone.companion.books.size === 0)
    assert.equal(bed.received.after(before).length, 1)
  })
}

test('names from the address book and pairs of addresses are told', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: bobNumber, lid: '100000000000001', pushName: 'Bob' })
  await bed.online('s')
  await bed.event(bob.text(phone, 'hello').id)
  phone.saveContact(bob, 'Robert')
  await waitUntil('the saved name', () => bed.names.some(({ savedName }) => savedName === 'Robert'))
  const saved = bed.names.find(({ savedName }) => savedName === 'Robert')
  assert.equal(saved?.person.phone, bobNumber)
  assert.equal(saved.isFullSync, true, 'the address book was never read before')
  assert.ok(bed.pairs.some((pair) => pair.phone === bobNumber && pair.lid === '100000000000001'))
  phone.saveContact(bob, undefined)
  await waitUntil('the name is gone', () => bed.names.some(({ savedName }) => savedName === null))
  assert.deepEqual(bed.names.at(-1), { person: { phone: bobNumber, lid: null }, savedName: null })
})

test('a group tells its members, with a redacted phone where the number is hidden', async () => {
  await using bed = await Bed.open({ sim: { addressing: 'lid' } })
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: bobNumber, lid: '100000000000001' })
  const eve = bed.sim.person({ phone: '5511888880002', lid: '100000000000002', hidesPhone: true })
  const group = bed.sim.group('Team', bob, [phone, eve])
  const { session } = await bed.online('s')
  const info = await session.groupInfo(group.jid.replace('@g.us', ''))
  assert.equal(info.subject, 'Team')
  const member = (lid: string) => info.members.find((one) => one.lid === lid)
  assert.deepEqual(member('100000000000001'), {
    phone: bobNumber,
    lid: '100000000000001',
    name: null,
    redactedPhone: null,
    role: 'superadmin',
  })
  assert.equal(member('100000000000002')?.phone, null)
  assert.match(member('100000000000002')?.redactedPhone ?? '', /^\+55.*02$/)
  await assert.rejects(session.groupInfo('120363999999999999'))
})

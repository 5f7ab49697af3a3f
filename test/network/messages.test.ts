// Messages pass both ways, decrypt, and are acknowledged only when they should be.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textOfMessage } from '../../sim/network/people/received-message.ts'
import type { SimPerson } from '../../sim/network/people/sim-person.ts'
import { child } from '../../sim/network/wire/stanza.ts'
import { decodeKey } from '../../src/network/account/key-codec.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { Bed } from './harness/bed.ts'
import { plain } from './harness/contents.ts'

async function received(person: SimPerson, text: string): Promise<void> {
  await person.messages.waitFor(text, (one) => textOfMessage(one.message) === text)
}

async function delivered(person: SimPerson, id: string): Promise<void> {
  await person.receipts.waitFor('the receipt', (one) => one.id === id && one.type === 'delivered')
}

function retries(...people: SimPerson[]): number {
  return people.flatMap((one) => one.receipts.entries).filter(({ type }) => type === 'retry').length
}

test('messages of a person are opened and confirmed, and never asked for again', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001', pushName: 'Bob' })
  await bed.online('s')
  for (let n = 0; n < 20; n++) await delivered(bob, bob.text(phone, `hello ${n}`).id)
  await waitUntil('the books are settled', () => phone.companion.books.size === 0)
  assert.equal(retries(bob), 0)
})

test('a text is sent when the network has acknowledged it, and the person reads it', async () => {
  await using bed = await Bed.open()
  await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const { session } = await bed.online('s')
  await session.send(bob.user.pnJid, plain('by number'), '3EB0000000000001')
  await session.send(bob.user.lidJid, plain('by lid'), '3EB0000000000002')
  await received(bob, 'by number')
  await received(bob, 'by lid')
  await Promise.all(Array.from({ length: 20 }, (_, n) => session.send(bob.user.pnJid, plain(`many ${n}`), `3EB0A${n}`)))
  await received(bob, 'many 19')
  assert.equal(bob.undecryptable.length, 0)
})

test('groups work both ways, and messages overtaken at a reconnect are opened', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const eve = bed.sim.person({ phone: '5511888880002' })
  const group = bed.sim.group('Team', bob, [phone, eve])
  const { session } = await bed.online('s')
  await delivered(bob, bob.text(group, 'one').id)
  await session.send(group.jid, plain('from us'), '3EB0000000000001')
  await session.send(group.jid, plain('again from us'), '3EB0000000000002')
  for (const member of [bob, eve]) await received(member, 'again from us')
  await session.close()
  bed.sim.fault({ kind: 'reorder', count: 3 })
  const late = ['two', 'three', 'four'].map((text) => bob.text(group, text).id)
  await bed.online('s')
  for (const id of late) await delivered(bob, id)
  await delivered(bob, bob.text(group, 'five').id)
  assert.equal(retries(bob, eve), 0)
  assert.equal(bob.undecryptable.length + eve.undecryptable.length, 0)
})

test('after a lost group message the next one carries the key, and every member opens it at once', async () => {
  const clock = new ManualClock()
  await using bed = await Bed.open({ clock })
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const eve = bed.sim.person({ phone: '5511888880002' })
  const group = bed.sim.group('Team', bob, [phone, eve])
  const { session } = await bed.online('s')
  const holders = async () => {
    const [stored] = await bed.store.load('s', 'sender-key-memory', [group.jid])
    const noted = decodeKey('sender-key-memory', stored?.value ?? Buffer.from('{}')) as Record<string, boolean>
    return Object.values(noted).filter((has) => has).length
  }
  const keyCarriers = () =>
    bed.sim.log
      .find({ account: phone.user.phone, tag: 'message' })
      .filter(({ direction, node }) => direction === 'in' && child(node, 'participants') !== undefined).length

  bed.sim.fault({ kind: 'lost_message' })
  const lost = assert.rejects(session.send(group.jid, plain('lost'), '3EB0000000000001'), /did not acknowledge/)
  await waitUntil('the message was on its way', () => keyCarriers() === 1)
  await clock.advance(15_000)
  await lost
  assert.equal(await holders(), 0)

  await session.send(group.jid, plain('second'), '3EB0000000000002')
  for (const member of [bob, eve]) await received(member, 'second')
  assert.equal(bob.undecryptable.length + eve.undecryptable.length, 0)
  await waitUntil('who has the key is stored', async () => (await holders()) === 3)
  await session.send(group.jid, plain('third'), '3EB0000000000003')
  for (const member of [bob, eve]) await received(member, 'third')
  assert.equal(keyCarriers(), 2, 'the key is given once')
})

test('a message the network refuses is refused with its code', async () => {
  await using bed = await Bed.open()
  await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const { session } = await bed.online('s')
  bed.sim.fault({ kind: 'ack_error', code: 463, times: 2 })
  await assert.rejects(session.send(bob.user.pnJid, plain('no'), '3EB0000000000001'), /463/)
  await session.send(bob.user.pnJid, plain('yes'), '3EB0000000000002')
})

test('a message under way when the connection is lost is not reported as sent', async () => {
  await using bed = await Bed.open()
  await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const line = await bed.online('s')
  bed.sim.fault({ kind: 'lost_ack' })
  const sending = line.session.send(bob.user.pnJid, plain('maybe'), '3EB0000000000001')
  const failed = assert.rejects(sending, /lost before/)
  await received(bob, 'maybe')
  await bed.sim.strike({ kind: 'drop' })
  await failed
  await line.closing()
  const { session } = await bed.online('s')
  await session.send(bob.user.pnJid, plain('maybe'), '3EB0000000000001')
  assert.equal(bob.messages.length, 1)
})

test('a message is not sent to the own phone alone when the devices of the recipient are unknown', async () => {
  await using bed = await Bed.open()
  await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const { session } = await bed.online('s')
  const forget = bed.sim.router.override('usync get usync', () => [
    { tag: 'usync', attrs: {}, content: [{ tag: 'list', attrs: {}, content: [] }] },
  ])
  await assert.rejects(session.send(bob.user.pnJid, plain('hello'), '3EB0000000000001'), /did not name the devices/)
  forget()
  assert.equal(bob.messages.length, 0)
  await session.send(bob.user.pnJid, plain('hello'), '3EB0000000000001')
  await received(bob, 'hello')
})

test('a person who cannot open a message gets it again', async () => {
  await using bed = await Bed.open()
  await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const { session } = await bed.online('s')
  await session.send(bob.user.pnJid, plain('warm up'), '3EB0000000000001')
  await received(bob, 'warm up')
  bob.device.forgetEverything()
  await session.send(bob.user.pnJid, plain('again please'), '3EB0000000000002')
  await received(bob, 'again please')
})

test('accounts that write to the same contact at once do not disturb each other', async () => {
  await using bed = await Bed.open()
  const bob = bed.sim.person({ phone: '5511888880001' })
  const names = ['a', 'b', 'c', 'd']
  const lines = await Promise.all(
    names.map(async (name, index) => {
      await bed.linked(name, `551199999000${index}`)
      return bed.online(name)
    }),
  )
  await Promise.all(
    lines.map(async ({ session }, account) => {
      for (let n = 0; n < 25; n++) await session.send(bob.user.pnJid, plain(`text ${n}`), `3EB0${account}A${n}`)
    }),
  )
  await waitUntil('all messages are read', () => bob.messages.length === 100)
  assert.equal(bob.undecryptable.length, 0)
})

test('messages that cannot be opened are asked for again and do not hold up the others', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const eve = bed.sim.person({ phone: '5511888880002' })
  await bed.online('s')
  for (const person of [bob, eve]) await delivered(person, person.text(phone, 'warm up').id)
  bed.sim.fault({ kind: 'undecryptable', times: 10 })
  const damaged = Array.from({ length: 10 }, (_, n) => bob.text(phone, `damaged ${n}`).id)
  // The damaged ones come again at the pace of the library, in real time: this wait only catches a good one that hangs.
  await delivered(eve, eve.text(phone, 'good').id)
  for (const id of damaged) await delivered(bob, id)
})

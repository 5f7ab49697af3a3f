// What people write arrives in the inbox, stored before the network is told.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'

test('a text, its quote and a file become events, under the ids of the network and in order', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001', lid: '100000000000001', pushName: 'Bob' })
  await bed.online('s')
  const hello = bob.text(phone, 'hello')
  const event = await bed.event(hello.id)
  const sender = { phone: '5511888880001', lid: '100000000000001' }
  assert.deepEqual(event, {
    kind: 'message',
    id: hello.id,
    at: event.at,
    chat: { kind: 'person', ...sender },
    sender,
    fromMe: false,
    pushName: 'Bob',
    address: { chat: bob.user.pnJid, participant: null },
    content: { type: 'text', text: 'hello' },
    quote: null,
    mentions: [],
    ad: null,
    secret: null,
  })
  const reply = await bed.event(bob.text(phone, 'and more', { quote: hello }).id)
  assert.ok(reply.kind === 'message')
  assert.deepEqual(reply.quote, { id: hello.id, sender, fromMe: false, text: 'hello' })
  const file = await bed.event(bob.media(phone, 'image', { bytes: Buffer.from('jpeg'), caption: 'look' }).id)
  assert.ok(file.kind === 'message' && file.content.type === 'media')
  assert.equal(file.content.caption, 'look')
  assert.equal(file.content.size, 4)
  const ids = bed.received.entries.map(({ id }) => id)
  assert.deepEqual(ids, ids.toSorted())
})

test("a group message names its author, and the owner's own message its chat", async () => {
  await using bed = await Bed.open({ sim: { addressing: 'lid' } })
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001', lid: '100000000000001', pushName: 'Bob' })
  const group = bed.sim.group('Team', bob, [phone])
  await bed.online('s')
  const inGroup = await bed.event(bob.text(group, 'all').id)
  assert.deepEqual(inGroup.chat, { kind: 'group', id: group.jid.replace('@g.us', '') })
  assert.deepEqual(inGroup.sender, { phone: '5511888880001', lid: '100000000000001' })
  const own = await bed.event(phone.text(bob, 'from the phone').id)
  assert.equal(own.fromMe, true)
  assert.deepEqual(own.chat, { kind: 'person', phone: '5511888880001', lid: '100000000000001' })
  assert.equal(own.sender.phone, '5511999990001')
})

test('a message that was opened and not confirmed is confirmed when it comes again, and received once', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const group = bed.sim.group('Team', bob, [phone])
  const line = await bed.online('s')
  bed.sim.fault({ kind: 'lost_receipt', times: 4 })
  const sent = [bob.text(phone, 'one'), bob.text(phone, 'two'), bob.text(group, 'three'), bob.text(group, 'four')]
  for (const { id } of sent) await bed.event(id)
  await waitUntil('the receipts have left', () => bed.sim.log.find({ tag: 'receipt' }).length === sent.length)
  await line.session.close()
  await bed.online('s')
  await waitUntil('the books are settled', () => phone.companion.books.size === 0)
  assert.deepEqual(
    // The two chats need not wait for each other.
    bed.received.entries
      .filter(({ event }) => event.kind === 'message')
      .map(({ event }) => event.id)
      .toSorted(),
    sent.map(({ id }) => id).toSorted(),
  )
  assert.equal(bob.receipts.entries.filter(({ type }) => type === 'retry').length, 0)
  assert.ok(bed.repeated >= sent.length, 'and that is told')
})

test('a new person who writes fast is read in order, also while the service learns their address', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  await bed.online('s')
  for (let person = 1; person <= 6; person++) {
    const digits = String(person).padStart(4, '0')
    const writer = bed.sim.person({ phone: `551188888${digits}`, lid: `10000000000${digits}` })
    const sent: string[] = []
    for (let n = 0; n < 25; n++) {
      sent.push(writer.text(phone, `text ${n}`).id)
      await new Promise((resolve) => setImmediate(resolve))
    }
    for (const id of sent) await bed.event(id)
    const received = bed.received.entries.map(({ event }) => event.id).filter((id) => sent.includes(id))
    assert.deepEqual(received, sent)
  }
})

// Status updates: each is plainly acknowledged and counted, and none reaches the inbox or the library.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ShiftableClock } from '../../../sim/shiftable-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'

async function openBed() {
  const clock = new ShiftableClock()
  const bed = await Bed.open({ sim: { clock } })
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511988880001' })
  return { clock, bed, phone, bob }
}

test('a status that cannot be opened holds nothing up, neither at the first login nor at the next one', async () => {
  const { bed: opened, phone, bob } = await openBed()
  await using bed = opened
  bob.answersRetries = false
  bed.sim.fault({ kind: 'undecryptable' })
  bob.status('my day')
  const first = bob.text(phone, 'first')
  const line = await bed.online('s')
  await bed.event(first.id)
  await line.session.close()
  const second = bob.text(phone, 'second')
  await bed.online('s')
  await bed.event(second.id)
  await waitUntil('the books are settled', () => phone.companion.books.size === 0)
  assert.equal(phone.companion.books.settled.nack, 0)
  assert.deepEqual(bed.passedOver, ['status'])
})

test('a status stanza is acknowledged, so the server does not end the stream after 50 minutes', async () => {
  const { clock, bed: opened, phone, bob } = await openBed()
  await using bed = opened
  const line = await bed.online('s')
  bob.status('live', { carrier: 'status' })
  await waitUntil('the status is acknowledged', () => phone.companion.books.settled.ack > 0)
  await clock.advance(51 * 60_000)
  await line.session.probe(10_000)
  await line.session.close()
  bob.status('waiting', { carrier: 'status' })
  await bed.online('s')
  await waitUntil('both are acknowledged', () => phone.companion.books.size === 0)
  assert.deepEqual(bed.passedOver, ['status', 'status'])
  assert.equal(bed.received.length, 0)
})

test("a customer's reply to a status of ours is received as a message that quotes it", async () => {
  const { bed: opened, phone, bob } = await openBed()
  await using bed = opened
  await bed.online('s')
  const status = phone.status('we are open')
  await waitUntil('our own status is acknowledged', () => phone.companion.books.size === 0)
  const reply = bob.text(phone, 'until when?', {
    context: {
      stanzaId: status.id,
      participant: phone.user.pnJid,
      remoteJid: 'status@broadcast',
      quotedMessage: { extendedTextMessage: { text: 'we are open' } },
    },
  })
  const event = await bed.event(reply.id)
  assert.ok(event.kind === 'message')
  assert.deepEqual(event.content, { type: 'text', text: 'until when?' })
  assert.equal(event.quote?.text, 'we are open')
})

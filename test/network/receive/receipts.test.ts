// Receipts are reported with their chat and their messages, and confirmed when the listener has stored them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Receipt } from '../../../src/core/realtime.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'

/** A network whose receipts are confirmed when the test says so. */
async function openStage() {
  const receipts: Receipt[] = []
  const stored = Promise.withResolvers<undefined>()
  const onReceipts = async (_: string, told: readonly Receipt[]) => {
    receipts.push(...told)
    await stored.promise
  }
  const received: string[] = []
  const reception = {
    onReceipts,
    onReceived: (_: string, rows: readonly { event: { id: string } }[]) => {
      received.push(...rows.map(({ event }) => event.id))
    },
  }
  const bed = await Bed.open({ network: { reception } })
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001', lid: '200000000000001' })
  bob.confirmsDelivery = false
  const { session } = await bed.online('s')
  const send = async (id: string, text: string) => {
    const content = { type: 'text' as const, text, mentions: [], quote: null }
    await session.send(bob.user.pnJid, content, id)
    return bob.messages.waitFor(text, (one) => one.id === id)
  }
  const confirm = () => {
    stored.resolve(undefined)
  }
  return {
    bed,
    phone,
    bob,
    session,
    send,
    receipts,
    received,
    confirm,
    [Symbol.asyncDispose]: () => bed[Symbol.asyncDispose](),
  }
}

test('a receipt is confirmed when it is stored, and delays no message', async () => {
  await using stage = await openStage()
  const { phone, bob, send, receipts, received, confirm } = stage
  bob.receipt('read', [await send('3EB0A', 'hello')])
  await waitUntil('the receipt is reported', () => receipts.length === 1)
  const { id } = bob.text(phone, 'an answer')
  await waitUntil('the answer is received', () => received.includes(id))
  await waitUntil('the answer is confirmed', () => phone.companion.books.unacknowledgedIds().length === 0)
  assert.equal(phone.companion.books.size, 1)
  confirm()
  await waitUntil('the receipt is confirmed', () => phone.companion.books.size === 0)
  const [receipt] = receipts
  assert.partialDeepStrictEqual(receipt, { type: 'read', ids: ['3EB0A'], chat: { phone: '5511888880001' } })
})

test('a receipt that was not confirmed is told again on the next connection', async () => {
  await using stage = await openStage()
  const { bed, bob, phone, send, receipts, confirm } = stage
  bob.receipt('read', [await send('3EB0A', 'hello')])
  await waitUntil('the receipt is reported', () => receipts.length === 1)
  await bed.sim.strike({ kind: 'drop' })
  confirm()
  await bed.online('s')
  await waitUntil('the receipt is reported again', () => receipts.length === 2)
  await waitUntil('the receipt is confirmed', () => phone.companion.books.size === 0)
})

test('receipts for reactions, edits and revokes are told as such', async () => {
  await using stage = await openStage()
  const { bob, session, send, receipts, confirm } = stage
  confirm()
  const message = await send('3EB0A', 'hello')
  const target = { chat: bob.user.pnJid, id: '3EB0A', fromMe: true, participant: null }
  await session.send(bob.user.pnJid, { type: 'edit', target, text: 'hello again' }, '3EB0B')
  await session.send(bob.user.pnJid, { type: 'revoke', target }, '3EB0C')
  const asides = ['3EB0B', '3EB0C'].map((id) => ({ ...message, id }))
  bob.receipt('delivered', [message, ...asides], { asList: true })
  await waitUntil('the receipts are reported', () => receipts.length === 2)
  assert.deepEqual(
    receipts.map(({ type, ids }) => [type, ids]),
    [
      ['delivered', ['3EB0A']],
      ['other', ['3EB0B', '3EB0C']],
    ],
  )
})

test('a request to send a message again is answered while receipts wait', async () => {
  await using stage = await openStage()
  const { bed, bob, send, receipts } = stage
  bob.receipt('read', [await send('3EB0A', 'first')])
  await waitUntil('the receipt is reported', () => receipts.length === 1)
  // Bob has a new phone that the account has not heard of: it cannot open the next message and asks for it again.
  bob.reinstall({ isTold: false })
  await send('3EB0B', 'second')
  assert.equal(bob.undecryptable.length, 1)
  assert.deepEqual(bed.sim.log.violations, [])
})

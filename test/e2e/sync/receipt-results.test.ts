// Every result that a receipt can have, at the helpdesk and in the counter.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SendStep } from '../../../src/bridge/outbound/send/row-sender.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { countsReceipts, delivered, receiptCounts, statusRequests } from './harness/tick-world.ts'

const setsStatus = { method: 'PATCH', path: /\/messages\/\d+$/ } as const
const dispatchErrors = 'service_message_dispatch_errors_total{direction="in",instance="n0",kind="status",owner_tag=""}'

const statusOf = async (world: AgentWorld, id: number) => (await world.shown(id, () => true)).status
const confirmed = ({ phone }: AgentWorld) => phone.companion.books.size === 0

async function unreadIn(world: AgentWorld, conversation: number): Promise<unknown> {
  return (await world.agent.get(`/conversations/${conversation}`)).body['unread_count']
}

describe('results of receipts', { concurrency: 3 }, () => {
  test('no_conv and no_contact: a receipt for an unknown message waits 60 s, and then it is confirmed', async () => {
    const clock = new LeapingClock()
    await using world = await AgentWorld.open({ clock })
    const { network, bob } = world
    const { message } = await delivered(world, 'known')
    await countsReceipts(world, { filtered: 1 })
    // Bob's conversation is known with that commit, which must not wait when the clock leaps.
    await waitUntil('the message is stored as sent', async () => (await world.outbox())['sent'] === 1)
    const stranger = network.person({ phone: '5511777770001', lid: '300000000000001' })
    bob.receipt('read', [{ ...message, id: 'UNKNOWN1' }])
    stranger.receipt('read', [{ ...message, id: 'UNKNOWN2' }])
    await waitUntil('both receipts wait', () => world.phone.companion.books.size === 2)
    await clock.advance(30_000)
    assert.deepEqual([await receiptCounts(world), confirmed(world)], [{ filtered: 1 }, false])
    await clock.advance(31_000)
    await countsReceipts(world, { filtered: 1, no_conv: 1, no_contact: 1 })
    await waitUntil('the receipts are confirmed', () => confirmed(world))
  })

  test('no_conv: the message is gone at the helpdesk', async () => {
    await using world = await AgentWorld.open()
    const { message } = await delivered(world, 'gone soon')
    await world.helpdesk.settled()
    await world.agent.delete(`/conversations/${world.conversation}`)
    world.bob.receipt('read', [message])
    await countsReceipts(world, { filtered: 1, no_conv: 1 })
    assert.equal(await world.metric(dispatchErrors), 0)
  })

  test('ok: a receipt that comes before the message is mapped waits for it', async () => {
    const acknowledged = Promise.withResolvers<undefined>()
    const onSendStep = async (step: SendStep) => {
      if (step === 'acknowledged') await acknowledged.promise
    }
    await using world = await AgentWorld.open({ onSendStep })
    const { id, message } = await delivered(world, 'read at once')
    world.bob.receipt('read', [message])
    await waitUntil('the receipt waits', () => world.phone.companion.books.size === 1)
    acknowledged.resolve(undefined)
    await world.shown(id, ({ status }) => status === 'read')
    await countsReceipts(world, { filtered: 1, ok: 1 })
  })

  test('ds_error: a status that cannot be set is counted once, and set when the helpdesk works again', async () => {
    const clock = new LeapingClock()
    await using world = await AgentWorld.open({ clock })
    const { id, message } = await delivered(world, 'later')
    await world.helpdesk.fault({ kind: 'status', status: 500, ...setsStatus })
    world.bob.receipt('read', [message])
    await countsReceipts(world, { filtered: 1, ds_error: 1 })
    await clock.advance(31_000)
    await waitUntil('it was tried again', () => statusRequests(world).length >= 2)
    await world.helpdesk.clearFaults()
    await clock.advance(31_000)
    await world.shown(id, ({ status }) => status === 'read')
    assert.deepEqual(await receiptCounts(world), { filtered: 1, ds_error: 1 })
    assert.equal(await world.metric(dispatchErrors), 1)
  })

  test('ds_error: a Chatwoot that knows no states of messages is asked once', async () => {
    const clock = new LeapingClock()
    await using world = await AgentWorld.open({ clock, helpdesk: { version: '3.4' } })
    const { id, message } = await delivered(world, 'old')
    world.bob.receipt('read', [message])
    await countsReceipts(world, { filtered: 1, ds_error: 1 })
    await clock.advance(120_000)
    assert.deepEqual([await statusOf(world, id), statusRequests(world).length], ['sent', 1])
  })

  test('ok: a status that the flood limit refuses is set a minute later', async () => {
    const clock = new LeapingClock()
    await using world = await AgentWorld.open({ clock })
    const { helpdesk, bob } = world
    const { id, message } = await delivered(world, 'in a flood')
    await helpdesk.settled()
    helpdesk.configure({ messagesPerMinute: 1 })
    bob.receipt('read', [message])
    await waitUntil('the status is refused', () => statusRequests(world).length === 1)
    await helpdesk.advance(30_000)
    await clock.advance(30_000)
    assert.deepEqual([await statusOf(world, id), statusRequests(world).length], ['sent', 1])
    await helpdesk.advance(36_000)
    await clock.advance(36_000)
    await world.shown(id, ({ status }) => status === 'read')
    await countsReceipts(world, { filtered: 1, ok: 1 })
    assert.equal(await world.metric(dispatchErrors), 0)
  })

  test('ok: a chat that the owner reads on the phone has no unread messages at the helpdesk', async () => {
    await using world = await AgentWorld.open()
    const { bob, phone } = world
    const { conversationId } = await world.arrived(bob.text(phone, 'one'))
    await world.arrived(bob.text(phone, 'two'))
    assert.equal(await unreadIn(world, conversationId), 2)
    phone.read(bob)
    await waitUntil('nothing is unread', async () => (await unreadIn(world, conversationId)) === 0)
    await countsReceipts(world, { ok: 2 })
  })

  test('a message that came after the owner looked stays unread', async () => {
    await using world = await AgentWorld.open()
    const { bob, phone } = world
    const { conversationId } = await world.arrived(bob.text(phone, 'one'))
    await world.disconnect()
    phone.read(bob)
    const later = bob.text(phone, 'two')
    await world.reconnect()
    await world.arrived(later)
    await waitUntil('everything is confirmed', () => confirmed(world))
    // The receipt clears the first message only if it is handled before the second one is at the helpdesk.
    const unread = await unreadIn(world, conversationId)
    assert.ok(unread === 1 || unread === 2, `${String(unread)} are unread`)
  })

  test('no_conv: the owner reads a chat whose conversation is gone', async () => {
    await using world = await AgentWorld.open()
    const { bob, phone } = world
    const { conversationId } = await world.arrived(bob.text(phone, 'one'))
    await world.helpdesk.settled()
    await world.agent.delete(`/conversations/${conversationId}`)
    phone.read(bob)
    await countsReceipts(world, { no_conv: 1 })
  })

  test('ds_error: the helpdesk does not mark the conversation of a chat that the owner has read', async () => {
    await using world = await AgentWorld.open()
    const { bob, phone } = world
    const { conversationId } = await world.arrived(bob.text(phone, 'one'))
    await world.helpdesk.fault({ kind: 'status', status: 500, method: 'POST', path: /\/update_last_seen$/ })
    phone.read(bob)
    await countsReceipts(world, { ds_error: 1 })
    assert.equal(await unreadIn(world, conversationId), 1)
    await waitUntil('the receipt is confirmed', () => confirmed(world))
  })

  test('filtered: a receipt for a reaction or for a copy on another device of the owner', async () => {
    await using world = await AgentWorld.open({
      environment: { SERVICE_EMOJI_REPLY_AS_REACTION: 'true', SERVICE_DELIVERY_STATUS_SYNC: 'true' },
    })
    const { bob, phone } = world
    const { id, conversationId } = await world.arrived(bob.text(phone, 'thanks'))
    await world.write('👍', { content_attributes: { in_reply_to: id } }, conversationId)
    const reaction = await bob.messages.waitFor('the reaction', ({ message }) => message.reactionMessage != null)
    await countsReceipts(world, { filtered: 1 })
    bob.receipt('read', [reaction])
    await countsReceipts(world, { filtered: 2 })
    await world.restart()
    bob.receipt('played', [reaction])
    await countsReceipts(world, { filtered: 1 })
    await waitUntil('the receipts are confirmed', () => confirmed(world))
  })
})

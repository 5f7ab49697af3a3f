// Answers in chats with disappearing messages carry the timer of the chat.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { proto } from 'baileys'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import { contextOf } from '../../../sim/network/people/chat-timers.ts'
import { unwrap } from '../../../sim/network/people/received-message.ts'
import type { SentMessage } from '../../../sim/network/people/sent-message.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { attach, kindsOf, png, textFile } from '../../harness/agent-files.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { day, noticesAre, quarter, timerOf, timerOfAnswer, week } from '../../harness/timers.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const { Initiator, Trigger } = proto.DisappearingMode
const wrapped = {
  ephemeralMessage: { message: { extendedTextMessage: { text: 'x', contextInfo: { expiration: week } } } },
}
const nowSeconds = () => Math.floor(Date.now() / 1000)

describe('an answer carries the timer that the service has learnt', () => {
  const ways: Record<string, (person: SimPerson, ana: SimPhone) => SentMessage> = {
    'from the setting of the other person': (person, ana) => person.setTimer(ana, week),
    'from the setting of the owner on the phone': (person, ana) => ana.setTimer(person, week),
    'from a received message': (person, ana) => person.text(ana, 'x', { context: { expiration: week } }),
    'from a received file': (person, ana) =>
      person.media(ana, 'image', { bytes: png }, { context: { expiration: week } }),
    'from a message in the old wrapper': (person, ana) => person.send(ana, wrapped),
    'from a message of the owner on the phone': (person, ana) =>
      ana.text(person, 'x', { context: { expiration: week } }),
  }

  test('by each way of learning', async () => {
    await using world = await AgentWorld.open()
    for (const [index, [way, teach]] of Object.entries(ways).entries()) {
      const person = world.network.person({ phone: `551188887${index}001`, pushName: `P${index}` })
      const { conversationId } = await world.arrived(person.text(world.phone, 'hello'))
      assert.equal(await timerOfAnswer(world, `before ${index}`, conversationId, person), undefined, way)
      await world.arrived(teach(person, world.phone))
      assert.equal(await timerOfAnswer(world, `after ${index}`, conversationId, person), week, way)
    }
  })
})

test('every part of an answer carries the timer, and a quote keeps both facts', async () => {
  await using world = await AgentWorld.open()
  world.bob.setTimer(world.phone, day)
  const question = await world.arrived(world.bob.text(world.phone, 'what do you have?'))
  await attach(world, 'these', [{ name: 'a.png', bytes: png, type: 'image/png' }, textFile('b.txt')], {
    content_attributes: { in_reply_to: question.id },
  })
  await waitUntil('both have arrived', () => world.bob.messages.length === 2, {
    instead: () => kindsOf(world.bob.messages.entries),
  })
  assert.deepEqual(world.bob.messages.entries.map(timerOf), [day, day])
  await world.write('and this', { content_attributes: { in_reply_to: question.id } })
  const { message } = await world.received('and this')
  const context = contextOf(unwrap(message))
  assert.equal(context?.stanzaId, question.sourceId)
  assert.equal(context.quotedMessage?.conversation, 'what do you have?')
  assert.equal(context.expiration, day)
  assert.equal(Number(context.ephemeralSettingTimestamp), world.bob.timers.of(world.phone.user)?.setAt)
  assert.deepEqual(
    [context.disappearingMode?.initiator, context.disappearingMode?.trigger],
    [Initiator.CHANGED_IN_CHAT, Trigger.CHAT_SETTING],
  )
})

test('the newest setting wins: an older message does not undo it, and neither does a message without a date', async () => {
  await using world = await AgentWorld.open()
  const { bob, phone } = world
  const now = nowSeconds()
  const { conversationId } = await world.arrived(bob.text(phone, 'hello'))
  await world.arrived(bob.setTimer(phone, day, { timestamp: now - 100 }))
  const older = { expiration: quarter, ephemeralSettingTimestamp: now - 500 }
  await world.arrived(bob.text(phone, 'written before', { context: older, timestamp: now - 400 }))
  const undated = { expiration: quarter, ephemeralSettingTimestamp: null, disappearingMode: null }
  await world.arrived(bob.text(phone, 'without a date', { context: undated }))
  assert.equal(await timerOfAnswer(world, 'one day', conversationId), day)
  await world.restart()
  assert.equal(await timerOfAnswer(world, 'still one day', conversationId), day)
  await world.arrived(phone.setTimer(bob, 0))
  const late = { expiration: day, ephemeralSettingTimestamp: now - 100 }
  await world.arrived(bob.text(phone, 'not told of it yet', { context: late }))
  assert.equal(await timerOfAnswer(world, 'stays', conversationId), undefined)
  await noticesAre(world, conversationId, [
    'Bob set messages to disappear after 1 d',
    `+${phone.user.phone} turned off disappearing messages`,
  ])
})

test('a date in the future counts as now, and a timer that no client offers is ignored', async () => {
  await using world = await AgentWorld.open()
  const { bob, phone } = world
  const { conversationId } = await world.arrived(bob.text(phone, 'hello'))
  for (const expiration of [0xffff_ffff, 2 * 366 * day]) {
    const type = proto.Message.ProtocolMessage.Type.EPHEMERAL_SETTING
    bob.send(phone, { protocolMessage: { type, ephemeralExpiration: expiration } })
    await world.arrived(bob.text(phone, 'for ever', { context: { expiration } }))
    assert.equal(await timerOfAnswer(world, `stays ${expiration}`, conversationId), undefined)
  }
  const future = { expiration: week, ephemeralSettingTimestamp: nowSeconds() + 1e9 }
  await world.arrived(bob.text(phone, 'from the future', { context: future, timestamp: nowSeconds() - 10 }))
  assert.equal(await timerOfAnswer(world, 'a week', conversationId), week)
  await world.arrived(bob.setTimer(phone, 0))
  assert.equal(await timerOfAnswer(world, 'off again', conversationId), undefined)
})

test('two addresses that turn out to be one person have one timer, the newest', async () => {
  await using world = await AgentWorld.open({ clock: new FastClock(5) })
  const { network, phone } = world
  const numbers = { phone: '5511988887777', lid: '99887766554433' }
  const maria = network.person({ ...numbers, pushName: 'Maria', hidesPhone: true, hidesLid: true })
  const byPhone = await world.arrived(
    maria.text(phone, 'by phone', {
      addressing: 'pn',
      context: { expiration: week, ephemeralSettingTimestamp: nowSeconds() - 100 },
    }),
  )
  await world.arrived(
    maria.text(phone, 'by id', {
      addressing: 'lid',
      context: { expiration: day, ephemeralSettingTimestamp: nowSeconds() - 50 },
    }),
  )
  await world.drained()
  Object.assign(maria.user, { hidesPhone: false, hidesLid: false })
  const plain = { expiration: null, ephemeralSettingTimestamp: null, disappearingMode: null }
  const last = await world.arrived(maria.text(phone, 'by both', { addressing: 'pn', context: plain }))
  await world.drained()
  assert.equal(last.conversationId, byPhone.conversationId)
  assert.equal(await timerOfAnswer(world, 'one day', last.conversationId, maria), day)
})

test('an answer in a group carries the timer of the group, until it is turned off', async () => {
  await using world = await AgentWorld.open()
  const { bob, phone, network } = world
  const group = network.group('Team', bob, [phone])
  const { conversationId } = await world.arrived(bob.text(group, 'hello'))
  group.setEphemeral(bob.user, week)
  const notices = ['Bob set messages to disappear after 7 d']
  await noticesAre(world, conversationId, notices)
  assert.equal(await timerOfAnswer(world, 'in a week', conversationId), week)
  await world.restart()
  assert.equal(await timerOfAnswer(world, 'after a restart', conversationId), week)
  group.setEphemeral(bob.user, 0)
  await noticesAre(world, conversationId, [...notices, 'Bob turned off disappearing messages'])
  assert.equal(await timerOfAnswer(world, 'stays', conversationId), undefined)
})

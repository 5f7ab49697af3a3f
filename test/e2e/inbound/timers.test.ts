// A change of the timer of disappearing messages is told in the conversation, once, in the language of the service.

import '../../sim/harness/quiet.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { proto } from 'baileys'
import { AgentWorld } from '../../harness/agent-world.ts'
import { day, noticesAre, noticesIn, quarter, timerOfAnswer, week } from '../../harness/timers.ts'
import { waitUntil } from '../../harness/wait-until.ts'

type Wanted = { set: string; found: string; off: string; foundOff: string }

const wanted: Record<'en' | 'es' | 'pt', Wanted> = {
  en: {
    set: 'Bob set messages to disappear after 7 d',
    found: 'Messages in this chat disappear after 90 d',
    off: 'Bob turned off disappearing messages',
    foundOff: 'Messages in this chat no longer disappear',
  },
  es: {
    set: 'Bob hizo que los mensajes desaparezcan después de 7 d',
    found: 'Los mensajes de este chat desaparecen después de 90 d',
    off: 'Bob desactivó los mensajes temporales',
    foundOff: 'Los mensajes de este chat ya no desaparecen',
  },
  pt: {
    set: 'Bob fez as mensagens sumirem após 7 d',
    found: 'As mensagens desta conversa somem após 90 d',
    off: 'Bob desativou as mensagens temporárias',
    foundOff: 'As mensagens desta conversa não somem mais',
  },
}

describe('a change of the timer is told once', { concurrency: 3 }, () => {
  for (const locale of ['en', 'es', 'pt'] as const) {
    test(`in ${locale}`, async () => {
      await using world = await AgentWorld.open({ environment: { SERVICE_LOCALE: locale } })
      const { bob, phone } = world
      const { set, found, off, foundOff } = wanted[locale]
      const now = Math.floor(Date.now() / 1000)
      const { conversationId } = await world.arrived(bob.text(phone, 'hello'))
      await world.arrived(bob.setTimer(phone, week, { timestamp: now - 90 }))
      bob.setTimer(phone, week, { timestamp: now - 80 })
      await world.arrived(bob.text(phone, 'soon gone'))
      await world.drained()
      await world.restart()
      await world.arrived(bob.text(phone, 'soon gone as well'))
      const shown = (expiration: number, ephemeralSettingTimestamp: number) => ({
        context: { expiration, ephemeralSettingTimestamp },
      })
      for (const text of ['longer', 'as long']) await world.arrived(bob.text(phone, text, shown(quarter, now - 70)))
      for (const text of ['stays', 'stays too']) await world.arrived(bob.text(phone, text, shown(0, now - 60)))
      await world.arrived(bob.setTimer(phone, week, { timestamp: now - 50 }))
      await world.arrived(bob.setTimer(phone, 0, { timestamp: now - 40 }))
      await noticesAre(world, conversationId, [set, found, foundOff, set, off])
      world.helpdesk.assertNothingRefused()
    })
  }
})

test('other changes of a group are told only where the service is set to tell them', async () => {
  await using world = await AgentWorld.open()
  const { bob, phone } = world
  const group = world.network.group('Team', bob, [phone])
  const { conversationId } = await world.arrived(bob.text(group, 'hello'))
  group.setSubject(bob.user, 'Another team')
  group.setEphemeral(bob.user, day)
  await noticesAre(world, conversationId, ['Bob set messages to disappear after 1 d'])
  assert.equal(noticesIn(world, conversationId).length, 1)
  const texts = world.helpdesk.see.messages().map(({ content }) => content ?? '')
  assert.ok(!texts.some((text) => text.includes('Another team')))
})

test('a member of a group cannot set its timer with a message', async () => {
  await using world = await AgentWorld.open()
  const { bob, phone } = world
  const group = world.network.group('Team', bob, [phone])
  const { conversationId } = await world.arrived(bob.text(group, 'hello'))
  await world.arrived(bob.text(group, 'for a day', { context: { expiration: day } }))
  const type = proto.Message.ProtocolMessage.Type.EPHEMERAL_SETTING
  bob.send(group, { protocolMessage: { type, ephemeralExpiration: week } })
  await world.arrived(bob.text(group, 'as before'))
  await world.write('stays', {}, conversationId)
  const { message } = await world.received('stays')
  assert.equal(message.extendedTextMessage?.contextInfo?.expiration ?? undefined, undefined)
  assert.deepEqual(noticesIn(world, conversationId), [])
  const counted = 'service_passed_over_total{instance="n0",kind="protocol EPHEMERAL_SETTING"}'
  assert.equal(await world.metric(counted), 1)
})

test('a change of the timer alone opens no conversation, and is in force for the first answer', async () => {
  await using world = await AgentWorld.open()
  const { phone, network, helpdesk } = world
  const eve = network.person({ phone: '5511888880777', pushName: 'Eve' })
  const before = helpdesk.see.conversations().length
  eve.setTimer(phone, week)
  const counted = 'service_realtime_events_total{feature="group_event",result="no_contact",instance="n0"}'
  await waitUntil('the change is handled', async () => (await world.metric(counted)) === 1)
  assert.equal(helpdesk.see.conversations().length, before)
  const { conversationId } = await world.arrived(eve.text(phone, 'hello'))
  assert.equal(await timerOfAnswer(world, 'to Eve', conversationId, eve), week)
})

// New chats begin with the timer that the owner has chosen for new chats.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { proto } from 'baileys'
import { contextOf } from '../../../sim/network/people/chat-timers.ts'
import { unwrap } from '../../../sim/network/people/received-message.ts'
import { child } from '../../../sim/network/wire/stanza.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { day, noticesAre, timerOfAnswer, week } from '../../harness/timers.ts'
import { openChat } from '../../sim-helpdesk/harness/desk-client.ts'

const { Initiator, Trigger } = proto.DisappearingMode

/** How often the service has asked the server for the account's default. */
function questionsIn({ network }: AgentWorld): number {
  const asked = network.log.find({ tag: 'iq' }).filter(({ direction }) => direction === 'in')
  return asked.filter(({ node }) => child(child(child(node, 'usync'), 'query'), 'disappearing_mode')).length
}

describe('the default timer of the account', () => {
  test('applies to a chat that an agent begins, and not to a chat that exists', async () => {
    await using world = await AgentWorld.open()
    const { bob, phone, network } = world
    const eve = network.person({ phone: '5511888880002', pushName: 'Eve' })
    const { conversationId } = await world.arrived(eve.text(phone, 'hello'))
    phone.setDefaultTimer(week)
    await world.arrived(eve.text(phone, 'and again'))
    assert.equal(await timerOfAnswer(world, 'to Eve', conversationId, eve), undefined)
    await world.write('to Bob')
    const { message } = await world.received('to Bob')
    const context = contextOf(unwrap(message))
    assert.equal(context?.expiration, week)
    assert.equal(Number(context.ephemeralSettingTimestamp), phone.user.defaultTimer.setAt)
    assert.deepEqual(
      [context.disappearingMode?.initiator, context.disappearingMode?.trigger],
      [Initiator.INITIATED_BY_ME, Trigger.ACCOUNT_SETTING],
    )
    await world.restart()
    assert.equal(await timerOfAnswer(world, 'to Bob again'), week)
    await world.arrived(bob.text(phone, 'thanks'))
    await noticesAre(world, world.conversation, ['Messages in this chat disappear after 7 d'])
    phone.setDefaultTimer(0)
    await world.arrived(bob.text(phone, 'and bye'))
    assert.equal(await timerOfAnswer(world, 'the chat keeps its timer'), week)
  })

  test('applies to a member of a shared group, and not to a customer with a new phone', async () => {
    await using world = await AgentWorld.open()
    const { bob, phone, network } = world
    const eve = network.person({ phone: '5511888880002', pushName: 'Eve' })
    const group = network.group('Team', eve, [phone])
    const { conversationId } = await world.arrived(eve.text(group, 'hello'))
    assert.equal(await timerOfAnswer(world, 'to the group', conversationId, eve), undefined)
    await world.arrived(bob.text(phone, 'hello'))
    assert.equal(await timerOfAnswer(world, 'to Bob'), undefined)
    phone.setDefaultTimer(week)
    bob.reinstall()
    await world.arrived(eve.text(group, 'and again'))
    assert.equal(await timerOfAnswer(world, 'to Bob again'), undefined)
    const conversation = await openChat(world.desk, eve.user.phone)
    assert.equal(await timerOfAnswer(world, 'to Eve', conversation, eve), week)
  })

  test('is asked for once when the phone has not told it', async () => {
    await using world = await AgentWorld.open({ accounts: 0 })
    const phone = await world.pair('n0')
    await world.listen()
    phone.user.defaultTimer = { seconds: day, setAt: 1_700_000_000 }
    assert.equal(await timerOfAnswer(world, 'to Bob'), day)
    const eve = world.network.person({ phone: '5511888880002', pushName: 'Eve' })
    const conversation = await openChat(world.desk, eve.user.phone)
    await world.restart()
    assert.equal(await timerOfAnswer(world, 'to Eve', conversation, eve), day)
    assert.equal(questionsIn(world), 1)
  })

  test('does not hold a message back when the server does not tell it', async () => {
    await using world = await AgentWorld.open({ accounts: 0 })
    await world.pair('n0')
    await world.listen()
    world.network.router.override('usync get usync', ({ content }) =>
      child(child(content, 'query'), 'disappearing_mode') ? 'silence' : null,
    )
    assert.equal(await timerOfAnswer(world, 'to Bob'), undefined)
    assert.equal(questionsIn(world), 1)
  })
})

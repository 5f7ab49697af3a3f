// Two instances of one service differ in their settings. A change counts for the next message, and null is the service's setting.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import { World } from '../../harness/world.ts'
import { DeskClient } from '../../sim-helpdesk/harness/desk-client.ts'

describe('the settings of an instance', () => {
  let world: World
  let desk: DeskClient
  let own: SimPhone
  let other: SimPhone
  let people = 0

  before(async () => {
    world = await World.open({ accounts: 2 })
    desk = new DeskClient(world.helpdesk)
    const [first, second] = world.phones
    assert.ok(first && second)
    own = first
    other = second
  })
  after(() => world[Symbol.asyncDispose]())

  const customer = () => world.network.person({ phone: `55119777700${String(10 + people++)}`, pushName: 'Maria' })
  const set = async (settings: object) => {
    assert.equal((await world.patch('n0', settings)).status, 200)
  }
  const content = async (sent: { id: string }) => (await world.arrived(sent)).content
  const statusOf = async (sent: { id: string }) => {
    const { conversationId } = await world.arrived(sent)
    return world.helpdesk.see.conversations().find(({ id }) => id === conversationId)?.status
  }

  test('locale and header_template write what agents read', async () => {
    const [maria, bob] = [customer(), customer()]
    const mine = maria.text(own, 'hello')
    const theirs = bob.text(other, 'hello')
    await Promise.all([mine, theirs].map((sent) => world.arrived(sent)))
    await set({ locale: 'pt-BR', header_template: '**$name**' })
    assert.equal(await content(maria.react(mine, '👍')), '**\\~Maria**\nreagiu com 👍')
    assert.equal(await content(bob.react(theirs, '👍')), `\`+${bob.user.phone} · ~Maria\`\nreacted with 👍`)
    await set({ locale: null, header_template: null })
    assert.equal(await content(maria.react(mine, '')), `\`+${maria.user.phone} · ~Maria\`\nremoved their reaction`)
  })

  test('ignore_jids leaves chats of this instance out', async () => {
    const maria = customer()
    await set({ ignore_jids: [`*${maria.user.phone.slice(-6)}@*`] })
    const ignored = maria.text(own, 'not for agents')
    const heard = maria.text(other, 'for agents')
    await world.arrived(heard)
    await world.drained()
    await set({ ignore_jids: null })
    await world.arrived(maria.text(own, 'for agents too'))
    assert.ok(!world.helpdesk.messages().some(({ sourceId }) => sourceId === ignored.id))
  })

  const resolve = async (conversationId: number) => {
    const { status } = await desk.post(`/conversations/${conversationId}/toggle_status`, { status: 'resolved' })
    assert.equal(status, 200)
  }

  test('conversation_mode decides what a message does after Resolve', async () => {
    await set({ conversation_mode: 'reopen' })
    const [maria, bob] = [customer(), customer()]
    const { conversationId: first } = await world.arrived(maria.text(own, 'first'))
    const { conversationId: theirs } = await world.arrived(bob.text(other, 'first'))
    await resolve(first)
    await resolve(theirs)
    // What the service remembers of both conversations is gone, so the next messages ask for their state.
    await world.restart()
    assert.equal((await world.arrived(maria.text(own, 'second'))).conversationId, first)
    assert.notEqual((await world.arrived(bob.text(other, 'second'))).conversationId, theirs)
    await resolve(first)
    await set({ conversation_mode: null })
    await world.restart()
    assert.notEqual((await world.arrived(maria.text(own, 'third'))).conversationId, first)
  })

  test('new_conversation_status is the status of what the service opens, and of nothing else', async () => {
    await set({ new_conversation_status: 'pending', conversation_mode: 'reopen' })
    const maria = customer()
    const first = maria.text(own, 'first')
    assert.equal(await statusOf(first), 'pending')
    assert.equal(await statusOf(maria.text(own, 'more')), 'pending')
    assert.equal(await statusOf(own.text(maria, 'from the phone of the owner')), 'pending')
    assert.equal(await statusOf(customer().text(other, 'first')), 'open')
    assert.equal(await statusOf(own.text(customer(), 'the owner writes first')), 'pending')
    const { conversationId } = await world.arrived(first)
    await resolve(conversationId)
    assert.equal(await statusOf(maria.text(own, 'again')), 'open', 'a reopened conversation is not a new one')
    await set({ new_conversation_status: null, conversation_mode: null })
    assert.equal(await statusOf(customer().text(own, 'first')), 'open')
  })

  test('quote_style shows a quote once', async () => {
    const maria = customer()
    const question = maria.text(own, 'the question')
    const original = await world.arrived(question)
    const block = `> \`↪ +${maria.user.phone} · ~Maria\`\n> the question\n\n`
    const answer = async (text: string) => {
      const sent = maria.text(own, text, { quote: question })
      const { content: shown, contentAttributes } = await world.arrived(sent)
      return [shown, contentAttributes['in_reply_to'] ?? null]
    }
    await set({ quote_style: 'bubble' })
    assert.deepEqual(await answer('one'), ['one', original.id])
    await set({ quote_style: 'text' })
    assert.deepEqual(await answer('two'), [`${block}two`, null])
    await set({ quote_style: null })
    assert.deepEqual(await answer('three'), [`${block}three`, original.id])
  })
})

test('the settings of the service count where an instance has none', async () => {
  const environment = {
    SERVICE_NEW_CONVERSATION_STATUS: 'pending',
    SERVICE_QUOTE_STYLE: 'bubble',
    SERVICE_LOCALE: 'es',
  }
  await using world = await World.open({ environment })
  const maria = world.network.person({ phone: '5511977770001', pushName: 'Maria' })
  const question = maria.text(world.phone, 'question')
  await world.arrived(question)
  assert.equal((await world.arrived(maria.text(world.phone, 'answer', { quote: question }))).content, 'answer')
  assert.match((await world.arrived(maria.react(question, ''))).content ?? '', /quitó su reacción/)
  assert.deepEqual(
    world.helpdesk.see.conversations().map(({ status }) => status),
    ['pending'],
  )
})

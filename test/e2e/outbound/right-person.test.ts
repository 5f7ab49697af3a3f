// The answer of an agent goes to the person who wrote into the conversation, from the account that this person wrote to.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SeenMessage } from '../../../sim/helpdesk/snapshots.ts'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'

const hourMs = 3_600_000
/** How long a conversation is taken for open without asking the helpdesk. */
const trustedMs = 5000

/** The customer writes to an account; the message at the helpdesk. */
const hears = (world: AgentWorld, person: SimPerson, phone: SimPhone, text: string): Promise<SeenMessage> =>
  world.arrived(person.text(phone, text))

const resolve = (world: AgentWorld, conversation: number) =>
  world.agent.post(`/conversations/${conversation}/toggle_status`, { status: 'resolved' })

/** The helpdesk keeps one conversation per contact. */
const lockToSingle = (world: AgentWorld) => world.desk.patch('/inboxes/1', { lock_to_single_conversation: true })

/** Both accounts, and the number that a message came from. */
const bothPhones = ({ phones: [first, second] }: AgentWorld): [SimPhone, SimPhone] => {
  assert.ok(first && second)
  return [first, second]
}
const senderOf = async (world: AgentWorld, text: string) => (await world.received(text)).from.phone

/** What an agent does in the list of contacts. */
async function mergeContacts(world: AgentWorld, base: number, mergee: number): Promise<void> {
  const merge = { base_contact_id: base, mergee_contact_id: mergee }
  const { status, text } = await world.agent.post('/actions/contact_merge', merge)
  assert.equal(status, 200, text)
}

/** An agent begins a conversation with a phone number; the helpdesk makes up the source id. */
async function beginConversation(world: AgentWorld, phone: string): Promise<number> {
  const made = await world.agent.post('/contacts', { name: 'Old number', phone_number: phone, inbox_id: 1 })
  const { contact } = made.body['payload'] as { contact: { id: number } }
  const opened = await world.agent.post('/conversations', { inbox_id: 1, contact_id: contact.id })
  assert.equal(opened.status, 200, opened.text)
  return opened.body.id
}

for (const engine of drawnEngines(import.meta.url)) {
  describe(`the right person is answered on ${engine}`, () => {
    test('an agent merges two contacts: the answer goes to the number that wrote into the conversation', async () => {
      await using world = await AgentWorld.open({ engine })
      const carol = world.network.person({ phone: '5511888880002', lid: '200000000000002', pushName: 'Carol' })
      const ofBob = await hears(world, world.bob, world.phone, 'I am Bob')
      const ofCarol = await hears(world, carol, world.phone, 'I am Carol')
      await mergeContacts(world, ofBob.sender?.id ?? 0, ofCarol.sender?.id ?? 0)
      const again = await hears(world, carol, world.phone, 'Carol again')
      assert.equal(again.conversationId, ofCarol.conversationId)
      await world.write('for Carol', {}, ofCarol.conversationId)
      await world.received('for Carol', carol)
      await world.write('for Bob', {}, ofBob.conversationId)
      await world.received('for Bob')
      assert.deepEqual([world.texts(carol), world.texts()], [['for Carol'], ['for Bob']])
    })

    test('an answer in an older, resolved conversation leaves from the account of that conversation', async () => {
      const clock = new LeapingClock()
      await using world = await AgentWorld.open({ engine, clock, accounts: 2 })
      const [, second] = bothPhones(world)
      const older = await hears(world, world.bob, second, 'first question')
      await resolve(world, older.conversationId)
      await clock.advance(trustedMs)
      const newer = await hears(world, world.bob, second, 'second question')
      assert.notEqual(newer.conversationId, older.conversationId)
      await world.write('to the first question', {}, older.conversationId)
      assert.equal(await senderOf(world, 'to the first question'), second.user.phone)
    })

    test('a shared conversation is answered from the account that the customer wrote to last', async () => {
      await using world = await AgentWorld.open({ engine, accounts: 2 })
      const [first, second] = bothPhones(world)
      await lockToSingle(world)
      const conversations: number[] = []
      for (const [index, phone] of [first, second, first, second, first].entries()) {
        conversations.push((await hears(world, world.bob, phone, `question ${index}`)).conversationId)
        await world.write(`answer ${index}`, {}, conversations[0])
        assert.equal(await senderOf(world, `answer ${index}`), phone.user.phone, `answer ${index}`)
      }
      assert.equal(new Set(conversations).size, 1)
    })

    test('a callback that is repeated after the owner of the conversation changed is sent once', async () => {
      await using world = await AgentWorld.open({ engine, accounts: 2 })
      const [first, second] = bothPhones(world)
      await lockToSingle(world)
      const { conversationId } = await hears(world, world.bob, first, 'to the first')
      const conversation = { id: conversationId, inbox_id: 1, contact_inbox: { source_id: '5511888880001' } }
      const callback = world.callback(7001, 'only once', { conversation })
      assert.equal((await world.post(callback)).status, 200)
      await hears(world, world.bob, second, 'to the second')
      for (const instance of ['n0', 'n1']) {
        const { body } = await world.post(callback, { instance })
        assert.deepEqual((body as { reason?: string }).reason, 'duplicate')
      }
      const more = world.callback(7002, 'at once', { conversation })
      await Promise.all(['n0', 'n1', 'n0', 'n1'].map((instance) => world.post(more, { instance })))
      await world.received('at once')
      await world.write('the end', {}, conversationId)
      await world.received('the end')
      assert.deepEqual(world.texts(), ['only once', 'at once', 'the end'])
    })

    test('a customer with a new phone number is answered there: an hour later, and after a restart', async () => {
      const clock = new LeapingClock()
      await using world = await AgentWorld.open({ engine, clock, helpdesk: { clock } })
      const [newNumber, newerNumber] = ['5511888880077', '5511888880078']
      const { conversationId } = await hears(world, world.bob, world.phone, 'from the old number')
      world.network.directory.changePhone(world.bob.user, newNumber)
      await hears(world, world.bob, world.phone, 'from the new number')
      await world.drained()
      await clock.advance(hourMs + 1)
      await world.reaches('n0', 'ready')
      await world.write('an hour later', {}, conversationId)
      await world.received('an hour later')
      // An agent began this conversation with the old number.
      const begun = await beginConversation(world, '+5511888880001')
      await world.write('to the old number', {}, begun)
      await world.received('to the old number')
      world.network.directory.changePhone(world.bob.user, newerNumber)
      await hears(world, world.bob, world.phone, 'from the newest number')
      await world.drained()
      await world.restart()
      await world.write('after a restart', {}, conversationId)
      await world.received('after a restart')
      await world.write('to the old number again', {}, begun)
      await world.received('to the old number again')
      assert.equal(world.helpdesk.see.conversations().length, 2)
      const people = await world.service.database.read(
        world.service.database.query.selectFrom('people').select('phone'),
      )
      assert.deepEqual(people, [{ phone: newerNumber }])
    })

    test('two records of a person become one while messages wait: the customer sees the order of acceptance', async () => {
      await using world = await AgentWorld.open({ engine, environment: { SERVICE_DRAIN_RATE: '2' } })
      const hidden = { hidesPhone: true, hidesLid: true }
      const eve = world.network.person({ phone: '5511888880003', lid: '200000000000003', pushName: 'Eve', ...hidden })
      const byLid = await world.arrived(eve.text(world.phone, 'by id', { addressing: 'lid' }))
      const byPhone = await world.arrived(eve.text(world.phone, 'by phone', { addressing: 'pn' }))
      assert.notEqual(byLid.conversationId, byPhone.conversationId)
      await world.disconnect()
      for (const text of ['1', '2', '3']) await world.write(text, {}, byLid.conversationId)
      Object.assign(eve.user, { hidesPhone: false, hidesLid: false })
      const both = eve.text(world.phone, 'by both', { addressing: 'lid' })
      await world.reconnect()
      await world.arrived(both)
      await world.write('4', {}, byPhone.conversationId)
      await world.received('4', eve)
      assert.deepEqual(world.texts(eve), ['1', '2', '3', '4'])
    })
  })
}

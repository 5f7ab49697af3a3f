// Which conversations and messages a take-over uses when there is more than one choice.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { fillMany } from '../../harness/other-bridges.ts'
import { AdoptWorld, bobsLid, bobsPhone } from './harness/adopt-world.ts'

/** How many messages of a conversation are remembered. */
const most = 200

type MapRow = { network_id: string; message_id: number; instance: string }

async function mapOf(world: AdoptWorld): Promise<MapRow[]> {
  return (await world.stored())[4] as MapRow[]
}

for (const engine of drawnEngines(import.meta.url)) {
  describe(`a take-over on ${engine}`, () => {
    test('of a long conversation the newest messages are known', async () => {
      await using world = await AdoptWorld.with('evolution', { engine })
      const count = 1200
      const from = Date.now() - 3_600_000
      const messages = Array.from({ length: count }, (_, nth) => ({
        ...{ id: `3EB0LONG${nth}`, text: 'one of many', at: from + 100 * nth },
      }))
      // The ids of other conversations lie between those of the long one.
      const bob = world.fill({ phone: bobsPhone, conversations: [{ messages: messages.slice(0, -100) }] })
      fillMany(world.helpdesk, 'evolution', 20)
      for (const { id, text, at } of messages.slice(-100)) {
        const said = { content: text, messageType: 'incoming', sourceId: `WAID:${id}`, at }
        world.helpdesk.world.addMessage(bob.conversations[0] ?? 0, said)
      }
      const before = world.helpdesk.requests.length
      assert.equal((await world.adopt())['messages'], most + 40)
      const known = new Set((await mapOf(world)).map(({ network_id }) => network_id))
      assert.deepEqual(
        messages.slice(-most).filter(({ id }) => !known.has(id)),
        [],
      )
      const lists = world.helpdesk.requests.slice(before).filter(({ path }) => path.includes('/messages?'))
      assert.ok(lists.length < 30, `${lists.length} lists of messages`)
    })

    test('an edit that Evolution API has shown in a later conversation is not taken for the message', async () => {
      await using world = await AdoptWorld.with('evolution', { engine })
      const conversations = [
        { status: 'resolved' as const, messages: [{ id: '3EB0OLD1', text: 'at five' }] },
        { messages: [{ id: '3EB0OLD1', text: 'at six' }] },
      ]
      const bob = world.fill({ phone: bobsPhone, conversations })
      const original = Math.min(...world.helpdesk.see.messages().map(({ id }) => id))
      assert.equal((await world.adopt({ dry: true }))['messages'], 1)
      assert.equal((await world.adopt())['messages'], 1)
      assert.deepEqual(
        (await mapOf(world)).map(({ message_id }) => message_id),
        [original],
      )
      assert.equal(bob.conversations.length, 2)
    })

    test('the contact that was taken over first stays the one of its person', async () => {
      await using world = await AdoptWorld.with('evolution', { engine })
      const first = world.fill({ phone: '5511988880001' })
      const other = world.fill({ phone: '551188880001', conversations: [{ status: 'resolved' }] })
      await world.adopt()
      const stored = await world.stored()
      // The other contact would be chosen by now.
      await world.agent.post(`/conversations/${first.conversations[0]}/toggle_status`, { status: 'resolved' })
      await world.agent.post(`/conversations/${other.conversations[0]}/toggle_status`, { status: 'open' })
      for (const dry of [true, false]) {
        const { adopted, unchanged, doubled } = await world.adopt({ dry })
        assert.deepEqual({ adopted, unchanged, doubled }, { adopted: 0, unchanged: 1, doubled: 1 })
      }
      assert.deepEqual(await world.stored(), stored)
    })

    test('a dry run counts two contacts of a person as doubled when the network has said that they are one', async () => {
      await using world = await AdoptWorld.with('evolution', { engine })
      // Bob has no contact: he has only written in a group.
      const group = world.network.group('Team', world.bob, [world.phone])
      await world.arrived(world.bob.text(group, 'hi'))
      await world.drained()
      const [people] = (await world.stored()) as { phone: string; lid: string }[][]
      assert.ok(people?.some(({ phone, lid }) => phone === bobsPhone && lid === bobsLid))
      world.fill({ phone: bobsPhone })
      world.fill({ lid: bobsLid })
      const found = await world.adopt({ dry: true })
      const done = await world.adopt()
      assert.deepEqual([found['adopted'], found['doubled']], [1, 1])
      assert.deepEqual([done['adopted'], done['doubled']], [1, 1])
    })

    test('accounts that share an inbox do not take the same conversation', async () => {
      await using world = await AdoptWorld.with('evolution', { engine, accounts: 2 })
      const messages = [{ id: '3EB0OLD1', text: 'hello' }]
      const bob = world.fill({ phone: bobsPhone, conversations: [{ messages }] })
      const [old] = bob.conversations
      await world.adopt()
      const { body } = await world.start({ dry_run: false }, 'n1')
      const second = await world.resultOf((body as { job_id: string }).job_id)
      assert.deepEqual([second['conversations'], second['messages']], [0, 0])
      assert.deepEqual(
        (await mapOf(world)).map(({ instance }) => instance),
        ['n0'],
      )
      const [phone, otherPhone] = world.phones
      assert.ok(phone && otherPhone)
      assert.equal((await world.arrived(world.bob.text(phone, 'to the first'))).conversationId, old)
      assert.notEqual((await world.arrived(world.bob.text(otherPhone, 'to the second'))).conversationId, old)
    })
  })
}

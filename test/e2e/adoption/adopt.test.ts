// The service takes over an inbox that another bridge has filled: what comes next goes where the other bridge would have put it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { otherBridges } from '../../../src/core/other-bridges/other-bridges.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { AdoptWorld, bobsLid, bobsPhone } from './harness/adopt-world.ts'

const hour = 3_600_000

for (const engine of drawnEngines(import.meta.url)) {
  for (const bridge of otherBridges) {
    const hasIds = bridge !== 'waha'
    describe(`${bridge}, on ${engine}`, () => {
      test('the next message goes into the conversation that exists, and an answer from there reaches the phone', async () => {
        await using world = await AdoptWorld.with(bridge, { engine })
        const at = Date.now() - 2 * hour
        const messages = [
          { id: '3EB0OLD1', text: 'do you have it in red?', at },
          { id: '3EB0OLD2', text: 'yes', fromMe: true, quotes: '3EB0OLD1', hasFile: true, at },
        ]
        const old = { status: 'resolved', messages: [{ id: '3EB0OLD0', text: 'hi', at }] } as const
        const bob = world.fill({ phone: bobsPhone, name: 'Bob of Acme', conversations: [old, { messages }] })
        world.fillOwn()
        const found = await world.adopt({ dry: true })
        const own = bridge === 'gowa' ? 0 : 1
        assert.deepEqual(
          [found['scanned'], found['adopted'], found['own'], found['conversations'], found['messages']],
          [1 + own, 1, own, 1, hasIds ? 3 : 0],
        )
        const result = await world.adopt()
        assert.deepEqual({ ...result, last_written_at: null }, { ...found, last_written_at: null })
        await world.listen()
        const before = world.helpdesk.see.contacts().length
        const message = await world.arrived(world.quoting('then I take it', '3EB0OLD2'))
        assert.deepEqual([message.conversationId, message.sender?.id], [bob.conversations[1], bob.contactId])
        const replied = hasIds ? bob.messages.get('3EB0OLD2') : undefined
        assert.equal(message.contentAttributes['in_reply_to'] ?? undefined, replied)
        assert.equal(world.helpdesk.see.contacts().length, before)
        assert.equal(world.helpdesk.see.contacts().find(({ id }) => id === bob.contactId)?.name, 'Bob of Acme')
        await world.write(bob.conversations[1] ?? 0, 'it is on its way')
        assert.ok(await world.received('it is on its way'))
        assert.deepEqual(world.bob.messages.entries.filter(({ own: mine }) => !mine).length, 1, 'nothing else was sent')
        world.helpdesk.assertNothingRefused()
      })

      test('a group goes on in its conversation', async () => {
        await using world = await AdoptWorld.with(bridge, { engine })
        const group = world.network.group('Team', world.bob, [world.phone])
        const messages = [
          { id: '3EB0GROUP1', text: 'hello all', at: Date.now() - hour },
          { id: '3EB0GROUP2', text: 'hello', fromMe: true, at: Date.now() - hour },
        ]
        const filled = world.fill({ group: group.id, name: 'Team', conversations: [{ messages }] })
        await world.adopt()
        await world.listen()
        const message = await world.arrived(world.quoting('and again', '3EB0GROUP1', group))
        assert.equal(message.conversationId, filled.conversations[0])
        const original = hasIds ? filled.messages.get('3EB0GROUP1') : undefined
        assert.equal(message.contentAttributes['in_reply_to'] ?? undefined, original)
        assert.equal(world.helpdesk.see.contacts().length, 1)
        await world.write(filled.conversations[0] ?? 0, 'noted')
        assert.ok(await world.received('noted'))
      })

      test('a person of whom the other bridge knew only the anonymous id is found', async () => {
        await using world = await AdoptWorld.with(bridge, { engine })
        const filled = world.fill({ lid: bobsLid, conversations: [{ messages: [{ id: '3EB0LID1', text: 'hi' }] }] })
        await world.adopt()
        await world.listen()
        const message = await world.arrived(world.bob.text(world.phone, 'it is me'))
        assert.equal(message.conversationId, filled.conversations[0])
        assert.equal(world.helpdesk.see.contacts().length, 1)
        await world.write(filled.conversations[0] ?? 0, 'hello Bob')
        assert.ok(await world.received('hello Bob'))
      })

      test('a second run changes nothing, here and at the helpdesk', async () => {
        await using world = await AdoptWorld.with(bridge, { engine })
        const messages = [{ id: '3EB0OLD1', text: 'hello' }]
        world.fill({ phone: bobsPhone, conversations: [{ messages }] })
        world.fill({ group: '120363000000000001', name: 'Team' })
        world.fill({ lid: '200000000000009' })
        world.fillOwn()
        const before = world.seen()
        await world.adopt({ dry: true })
        assert.deepEqual(world.seen(), before, 'a dry run changes nothing')
        assert.deepEqual((await world.stored()).flat(), [])
        const first = await world.adopt()
        const [seen, stored] = [world.seen(), await world.stored()]
        assert.deepEqual(seen.messages, before.messages, 'nothing is posted')
        const statuses = (of: typeof seen) => of.conversations.map(({ id, status }) => [id, status])
        assert.deepEqual(statuses(seen), statuses(before))
        const second = await world.adopt()
        assert.deepEqual(world.seen(), seen)
        assert.deepEqual(await world.stored(), stored)
        assert.deepEqual([first['adopted'], second['adopted'], second['unchanged']], [3, 0, 3])
      })
    })
  }
}

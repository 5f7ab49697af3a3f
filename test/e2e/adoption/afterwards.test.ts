// What happens after a take-over: a message that the other bridge has posted comes again, and a customer types.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { agentActs, counted, deviceOf, shows } from '../../harness/typing-world.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { AdoptWorld, bobsPhone } from './harness/adopt-world.ts'

for (const engine of drawnEngines(import.meta.url)) {
  describe(`after a take-over on ${engine}`, () => {
    for (const bridge of ['evolution', 'gowa'] as const) {
      test(`a message of a person that ${bridge} has posted is not posted again`, async () => {
        await using world = await AdoptWorld.with(bridge, { engine })
        const messages = [
          { id: '3EB0OLD1', text: 'hello' },
          { id: '3EB0OLD2', text: 'good morning', fromMe: true },
        ]
        world.fill({ phone: bobsPhone, conversations: [{ messages }] })
        await world.adopt()
        world.bob.text(world.phone, 'hello', { id: '3EB0OLD1' })
        world.phone.text(world.bob, 'good morning', { id: '3EB0OLD2' })
        await world.arrived(world.bob.text(world.phone, 'and something new'))
        await world.arrived(world.phone.text(world.bob, 'an answer'))
        await world.drained()
        const contents = world.helpdesk.see.messages().map(({ content }) => content)
        assert.deepEqual(contents.sort(), ['an answer', 'and something new', 'good morning', 'hello'])
      })

      test(`a message of a group that ${bridge} has posted is not posted again, though its author is unknown`, async () => {
        await using world = await AdoptWorld.with(bridge, { engine })
        const group = world.network.group('Team', world.bob, [world.phone])
        const messages = [{ id: '3EB0GROUP1', text: 'hello all' }]
        const filled = world.fill({ group: group.id, name: 'Team', conversations: [{ messages }] })
        await world.adopt()
        world.bob.text(group, 'hello all', { id: '3EB0GROUP1' })
        await world.arrived(world.bob.text(group, 'something new'))
        await world.drained()
        assert.equal(world.helpdesk.see.messages().length, 2)
        await world.listen()
        const answered = { in_reply_to: filled.messages.get('3EB0GROUP1') }
        await world.write(filled.conversations[0] ?? 0, 'noted', { content_attributes: answered })
        const { message } = await world.received('noted')
        assert.equal(message.extendedTextMessage?.contextInfo?.stanzaId, '3EB0GROUP1', 'the author is known by now')
      })
    }

    test('typing is not shown in a conversation that was taken over, and is shown in the next one', async () => {
      await using world = await AdoptWorld.with('evolution', { engine })
      const bob = world.fill({ phone: bobsPhone, conversations: [{ messages: [{ id: '3EB0OLD1', text: 'hello' }] }] })
      const old = bob.conversations[0] ?? 0
      await world.adopt()
      await world.listen()
      assert.equal((await world.arrived(world.bob.text(world.phone, 'hi'))).conversationId, old)
      await agentActs(world, old)
      await waitUntil('the account is subscribed', () => deviceOf(world).subscriptions.has(world.bob.user))
      world.bob.typing(world.phone)
      await counted(world, { no_conv: 1 })
      assert.equal(world.helpdesk.see.conversations().find(({ id }) => id === old)?.contactTypingSince, null)
      const said = await world.arrived(world.bob.text(world.phone, 'still there?'))
      assert.equal(said.conversationId, old, 'a refused typing does not lose the conversation')
      await world.agent.post(`/conversations/${old}/toggle_status`, { status: 'resolved' })
      await world.helpdesk.settled()
      const next = await world.arrived(world.bob.text(world.phone, 'again'))
      assert.notEqual(next.conversationId, old)
      world.bob.typing(world.phone)
      await shows(world, next.conversationId, true)
    })
  })
}

// An agent deletes a conversation or a contact. Chatwoot sends no callback for that.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SeenMessage } from '../../../sim/helpdesk/snapshots.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'

type What = 'conversation' | 'contact'
type When = { name: string; wait: (world: AgentWorld, clock: LeapingClock) => Promise<unknown> }

const whens: When[] = [
  { name: 'at once, while the conversation is still trusted', wait: () => Promise.resolve() },
  { name: 'later', wait: (_, clock) => clock.advance(6000) },
  { name: 'after a restart', wait: (world) => world.restart() },
]

async function remove(world: AgentWorld, what: What, { conversationId, sender }: SeenMessage): Promise<void> {
  const path = what === 'contact' ? `/contacts/${sender?.id}` : `/conversations/${conversationId}`
  assert.equal((await world.agent.delete(path)).status, 200)
  await world.helpdesk.settled()
  assert.deepEqual(world.helpdesk.messages(conversationId), [])
}

const incoming = (world: AgentWorld) =>
  world.helpdesk.messages().filter(({ messageType }) => messageType === 'incoming')

for (const engine of drawnEngines(import.meta.url)) {
  describe(`deleted at the helpdesk, on ${engine}`, () => {
    for (const what of ['conversation', 'contact'] as const) {
      for (const { name, wait } of whens) {
        test(`a ${what}, and the customer writes ${name}: a new conversation, where answers work`, async () => {
          const clock = new LeapingClock()
          await using world = await AgentWorld.open({ engine, clock, helpdesk: { clock } })
          const first = await world.arrived(world.bob.text(world.phone, 'zero'))
          await world.drained()
          await remove(world, what, first)
          await wait(world, clock)
          const texts = ['one', 'two', 'three', 'four']
          const sent = texts.map((text) => world.bob.text(world.phone, text))
          const arrived = await Promise.all(sent.map((each) => world.arrived(each)))
          await world.drained()
          assert.deepEqual(
            incoming(world).map(({ content }) => content),
            texts,
          )
          const [one] = arrived
          assert.ok(one && one.conversationId !== first.conversationId)
          assert.equal(new Set(arrived.map(({ conversationId }) => conversationId)).size, 1)
          assert.equal(one.sender?.id === first.sender?.id, what === 'conversation')
          await world.write('an answer', {}, one.conversationId)
          await world.received('an answer')
          assert.deepEqual(world.texts(), ['an answer'])
          assert.equal((await world.health()).status, 'ok')
        })
      }
    }

    test('a conversation, and the customer edits a message that was in it: the edit opens no second one', async () => {
      await using world = await AgentWorld.open({ engine })
      const typo = world.bob.text(world.phone, 'helo')
      const first = await world.arrived(typo)
      await world.drained()
      await remove(world, 'conversation', first)
      const edited = await world.arrived(world.bob.edit(typo, 'hello'))
      const next = await world.arrived(world.bob.text(world.phone, 'next'))
      assert.notEqual(edited.conversationId, first.conversationId)
      assert.equal(next.conversationId, edited.conversationId)
    })
  })
}

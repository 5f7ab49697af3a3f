// Long hostile texts come in a burst, and the service goes on answering.
// Runs alone: it measures how long the event loop of its process is busy.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { people } from '../../harness/chats.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const texts = 50
/** The first one, which is longer than WhatsApp's own apps allow, once stopped the event loop for more than five seconds. */
const attacks = [`${'[](x'.repeat(35_000)})`, `${'a.'.repeat(32_500)}*`, '*_~'.repeat(21_667), 'a\n'.repeat(32_500)]
/** A quiet machine answers within 50 ms. A busy one needs longer, but not as long as the first text took. */
const longestMs = 4000

test(
  `${texts} long hostile texts of customers arrive, and health answers meanwhile`,
  { timeout: 600_000 },
  async (t) => {
    await using world = await ProcessWorld.open()
    const senders = people(world, texts)
    for (const [index, person] of senders.entries()) {
      person.text(world.phone, `${index} ${attacks[index % attacks.length] ?? ''}`)
    }
    const waits: number[] = []
    const haveArrived = async () => {
      const askedAt = performance.now()
      const { status } = await world.service.get('/api/health')
      waits.push(performance.now() - askedAt)
      assert.equal(status, 200)
      return world.helpdesk.messages().length >= texts
    }
    const instead = () => world.helpdesk.messages().length
    await waitUntil('all texts are at the helpdesk', haveArrived, { timeoutMs: 200_000, instead })
    const longest = Math.max(...waits)
    const found = `health answered ${waits.length} times, at the latest after ${Math.round(longest)} ms`
    t.diagnostic(found)
    assert.ok(longest < longestMs, found)
  },
)

test('long hostile texts of an agent arrive in order, and are shown as sent', { timeout: 600_000 }, async () => {
  await using world = await AgentWorld.open()
  const written = ['[', '\ue000', 'a.', '*a'].map((piece, index) => `${index} ${piece.repeat(65_000 / piece.length)}`)
  const ids: number[] = []
  for (const text of written) ids.push(await world.write(text))
  const last = await world.write('the end')
  await world.received('the end')
  assert.deepEqual(world.texts(), [...written, 'the end'])
  for (const id of [...ids, last]) await world.shown(id, ({ status }) => status === 'sent')
})

// A bot answers every message that a real import brings. Nothing of that reaches the network.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fillArchive } from '../../../sim/network/past/fill-archive.ts'
import type { FilledArchive } from '../../../sim/network/past/fill-archive.ts'
import type { SeenMessage } from '../../../sim/helpdesk/snapshots.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { owner } from '../../harness/instance-api.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { AnsweringBot } from './harness/answering-bot.ts'
import { completedJob, importing } from './harness/watched-jobs.ts'

const refused = /history is being imported, press Retry in a minute/
const historyOnly = /only messages that a person writes are sent from it/

/** The helpdesk shows each answer of the bot as failed, with one of these reasons. */
async function assertFailed(world: AgentWorld, answers: readonly SeenMessage[], ...reasons: RegExp[]): Promise<void> {
  for (const { id } of answers) {
    const isExplained = ({ status, contentAttributes: { external_error: error } }: SeenMessage) =>
      status === 'failed' && reasons.some((each) => each.test(String(error)))
    await world.shown(id, isExplained)
  }
}

/** The messages and read receipts that the service has sent, without its requests to the phone of its own account. */
function sentToNetwork({ network }: AgentWorld): string[] {
  const own = network.log.find({}).filter(({ direction, attrs }) => direction === 'in' && attrs['category'] !== 'peer')
  const meant = own.filter(
    ({ tag, attrs }) => tag === 'message' || (tag === 'receipt' && /^read/.test(attrs['type'] ?? '')),
  )
  return meant.map(({ tag, attrs }) => `${tag} to ${attrs['to'] ?? ''}`)
}

/** The oldest message of each chat with a person, and then two that are older. */
function rememberOlder(world: AgentWorld, { chats }: FilledArchive): number {
  const phone = world.network.phone(owner)
  let count = 0
  for (const { with: target, items } of chats) {
    const [oldest] = items
    if (!phone || !oldest || !('user' in target)) continue
    for (const n of [1, 2]) phone.remember(target, { text: `older ${n}`, from: target.user, at: oldest.at - n * 60 })
    count += 2
  }
  return count
}

for (const engine of drawnEngines(import.meta.url)) {
  describe(`a bot that answers everything, on ${engine}`, () => {
    test('reaches no customer with its answers to imported messages, but with those to new ones', async () => {
      const clock = new LeapingClock()
      const helpdesk = { clock, messagesPerMinute: 10_000 }
      await using world = await AgentWorld.open({ engine, accounts: 0, clock, environment: importing, helpdesk })
      await using bot = await AnsweringBot.connect(world.helpdesk)
      const phone = world.network.account({ phone: owner })
      const archive = fillArchive(world.network, phone, { chats: 6, messages: 48, days: 5 })
      await world.pair('n0', owner, { history: { days: 10 } })
      await completedJob(world)
      // Each chat had no conversation before.
      const first = await bot.answeredAll()
      await assertFailed(world, first, refused)
      assert.ok(first.length > archive.messages / 2)
      // These go into History conversations.
      const older = rememberOlder(world, archive)
      const { body } = await world.command('/n0/history/import-all?days=20')
      assert.equal((body as Record<string, unknown>)['posted'], older)
      const second = (await bot.answeredAll()).slice(first.length)
      assert.equal(second.length, older)
      await assertFailed(world, second, refused, historyOnly)
      assert.deepEqual(sentToNetwork(world), [])
      // A minute later an agent presses Retry on the answers in History conversations.
      await clock.advance(61_000)
      for (const { id, conversationId } of second) {
        await world.agent.post(`/conversations/${conversationId}/messages/${id}/retry`)
      }
      await world.helpdesk.settled()
      await assertFailed(world, second, historyOnly)
      assert.deepEqual(sentToNetwork(world), [])
      const writer = archive.chats.find((chat) => 'user' in chat.with)?.with
      assert.ok(writer && 'user' in writer)
      const live = await world.arrived(writer.text(phone, 'is it still there?'))
      await world.received(`an answer to ${live.id}`, writer)
      assert.deepEqual(world.texts(writer), [`an answer to ${live.id}`])
      await waitUntil('the answer is logged', () => sentToNetwork(world).length > 0)
    })
  })
}

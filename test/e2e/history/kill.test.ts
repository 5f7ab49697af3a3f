// kill -9 of the whole service at any moment of an import, while customers write: the job goes on, every message reaches the
// helpdesk once and in order, and the counts are exact.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { lifelike } from '../../../sim/helpdesk/settings.ts'
import { fillArchive } from '../../../sim/network/past/fill-archive.ts'
import type { FilledArchive } from '../../../sim/network/past/fill-archive.ts'
import { SeededRandom } from '../../../sim/network/seeded-random.ts'
import { engines } from '../../harness/databases.ts'
import { harshNetwork } from '../../harness/harsh-network.ts'
import { owner } from '../../harness/instance-api.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { rounds } from '../../harness/rounds.ts'
import { mistakesIn, noMistakes } from '../../harness/truth.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { DeskClient } from '../../sim-helpdesk/harness/desk-client.ts'
import { completedJob, importedAt, importing, jobsOf } from './harness/watched-jobs.ts'

const kills = rounds({ gate: 2, long: 8 })
const plan = { chats: 15, messages: 180, days: 5 }

/** The helpdesk calls the process that runs now. */
async function listen(world: ProcessWorld): Promise<void> {
  const channel = { webhook_url: `${await world.service.ready()}/api/instances/a/webhook` }
  await new DeskClient(world.helpdesk).patch('/inboxes/1', { channel })
}

/** How many messages an import of the archive posts. Agents are not shown the reactions of the owner. */
function postedOf({ chats, messages }: FilledArchive): number {
  const byOthers = chats.flatMap(({ items }) => items).filter(({ isOwn, reactions }) => isOwn && reactions > 0)
  return messages + byOthers.length
}

/** What is lost, doubled or out of order at the helpdesk, chat by chat. */
function mistakesAt({ helpdesk }: ProcessWorld, { chats }: FilledArchive) {
  const received = importedAt(helpdesk).map(({ sourceId }) => sourceId ?? '')
  return mistakesIn(
    chats.map(({ items }) => {
      const ids = new Set(items.map(({ id }) => id))
      const written = items.map(({ id }) => ({ id, isFailed: false }))
      return { written, received: received.filter((id) => ids.has(id)) }
    }),
  )
}

// Side by side: most of the time is spent waiting for the lease of a dead process and for posts that may still turn up.
describe('a service killed during an import', { concurrency: true }, () => {
  for (const engine of engines) {
    const name = `loses nothing, doubles nothing and counts right: ${kills} × kill -9 on ${engine}`
    test(name, { timeout: 600_000 }, async () => {
      const helpdeskOptions = { quirks: lifelike, messagesPerMinute: 10_000 }
      const options = { network: harshNetwork, helpdesk: helpdeskOptions, environment: importing }
      await using world = await ProcessWorld.open({ engine, accounts: 0, ...options })
      const { helpdesk, network } = world
      const phone = network.account({ phone: owner })
      const archive = fillArchive(network, phone, plan)
      const total = postedOf(archive)
      await world.pair('a', owner, { history: { days: 10 } })
      await listen(world)
      const random = new SeededRandom(`history ${engine}`)
      const killAt = Array.from({ length: kills }, () => random.below(total)).toSorted((one, other) => one - other)
      const writer = archive.chats[0]?.with
      assert.ok(writer && 'user' in writer)
      const live: string[] = []
      for (const count of killAt) {
        live.push(writer.text(phone, `live ${count}`).id)
        const isDue = () => importedAt(helpdesk).length > count
        await waitUntil(`${count} messages are posted`, isDue, { timeoutMs: 300_000 })
        await world.kill()
        await listen(world)
        live.push(writer.text(phone, `live after ${count}`).id)
      }
      const { type, result, progress } = await completedJob(world)
      assert.equal((await jobsOf(world)).length, 1)
      const arrived = () => live.filter((id) => importedAt(helpdesk).some(({ sourceId }) => sourceId === id))
      await waitUntil('the live messages have arrived', () => arrived().length === live.length)
      await helpdesk.settled()
      assert.deepEqual(mistakesAt(world, archive), noMistakes)
      const ids = importedAt(helpdesk).map(({ sourceId }) => sourceId)
      assert.equal(new Set(ids).size, ids.length)
      assert.equal(ids.length, total + live.length)
      const kept = archive.messages + archive.reactions
      assert.deepEqual([type, result?.['posted'], result?.['imported']], ['history_pairing', total, plan.chats])
      const counts = { done: plan.chats, total: plan.chats, messages_seen: kept, messages_kept: kept, posted: total }
      assert.deepEqual(progress, { ...counts, skipped: 0, errors: 0, estimated_end_at: null })
      helpdesk.assertNothingRefused()
    })
  }
})

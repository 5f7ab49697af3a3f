// A bot writes bursts while everything fails that can fail, and agents press Retry on what is shown as failed. In the end each
// message has arrived once and in order and is shown as sent.
// Runs alone: it takes longest, so it begins first.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { SeededRandom } from '../../../sim/network/seeded-random.ts'
import { BotStage } from '../../harness/bot-stage.ts'
import { engines } from '../../harness/databases.ts'
import { LateCallbacks } from '../../harness/late-callbacks.ts'
import { rounds } from '../../harness/rounds.ts'
import { stallStorage } from '../../harness/stalled-storage.ts'
import { noMistakes } from '../../harness/truth.ts'
import { waitUntil } from '../../harness/wait-until.ts'

// Another CHAOS_SEED gives another run.
const seed = process.env['CHAOS_SEED'] ?? 'causeway'
const count = rounds({ gate: 7, long: 25 })
const customers = rounds({ gate: 2, long: 4 })
const changes = { method: 'PATCH', path: /\/messages\/\d+$/ }

type Blow = (stage: BotStage, random: SeededRandom) => Promise<unknown>

const blows: readonly Blow[] = [
  (stage) => stage.restart('SIGKILL'),
  freeze,
  (stage) => stage.restart('SIGTERM'),
  ({ world }) => world.network.strike({ kind: 'drop' }),
  ({ world }, random) => awayWorkers(world, 2000 + random.below(2000)),
  ({ world }, random) => stallStorage(world.place.location, 500 + random.below(4000)),
  ({ world }) => world.network.strike({ kind: 'server_restart' }),
]

/** Longer than Chatwoot waits for an answer. */
async function freeze({ world: { service } }: BotStage): Promise<void> {
  service.send('SIGSTOP')
  await pause(6000)
  service.send('SIGCONT')
}

/** No worker of Chatwoot runs, and then all of them work off the backlog. */
async function awayWorkers({ helpdesk }: BotStage['world'], ms: number): Promise<void> {
  helpdesk.workersAway(ms)
  await pause(ms)
}

/** In each round the bot writes a burst to every customer, and something fails in the middle. */
async function torture(stage: BotStage, random: SeededRandom): Promise<void> {
  const { helpdesk } = stage.world
  for (let round = 0; round < count; round++) {
    await helpdesk.fault({ kind: 'status', status: 503, times: 2, ...changes })
    await helpdesk.fault({ kind: 'timeout', commit: 'at_once', times: 1, ...changes })
    const before = stage.written.length
    const blowAt = before + random.below(20 * customers)
    const strike = async () => {
      await waitUntil('the bot has begun', () => stage.written.length >= blowAt)
      // Each kind once, then by chance.
      await blows[round < blows.length ? round : random.below(blows.length)]?.(stage, random)
    }
    const burstToAll = (name: string, size: number) =>
      stage.customers.map((_, n) => burst(stage, n, `c${n} r${round} ${name}`, size))
    await Promise.all([strike(), ...burstToAll('during', 20)])
    await Promise.all(burstToAll('after', 10))
    // Some agents press Retry at once, also on messages whose failure is about to be corrected.
    await stage.retry(stage.failed.filter(({ id }) => new SeededRandom(`${seed} ${id}`).below(2) === 0))
  }
  await helpdesk.clearFaults()
}

async function burst(stage: BotStage, to: number, name: string, size: number): Promise<void> {
  const random = new SeededRandom(`${seed} ${name}`)
  const customer = stage.customers[to]
  assert.ok(customer)
  for (let n = 0; n < size; n++) {
    await stage.write(customer, `${name} m${n}`)
    await pause(random.below(20))
  }
}

describe('bursts during failures', { concurrency: true }, () => {
  for (const engine of engines) {
    const name = `after ${count} failures each message arrived once, in order, and is shown as sent, on ${engine}`
    test(name, { timeout: 900_000 }, async (t) => {
      await using stage = await BotStage.open({ engine, customers })
      await torture(stage, new SeededRandom(`${seed} torture`))
      await stage.retriedAll()
      const late = new LateCallbacks(stage.world.helpdesk.deliveries)
      assert.deepEqual(stage.mistakes(late), noMistakes)
      const counts = {
        retries: stage.retries,
        first: late.first.size,
        overdue: late.overdue.size,
        again: late.again.size,
      }
      t.diagnostic(`${stage.written.length} written: ${JSON.stringify(counts)}`)
      const bursts = 2 * count * customers
      assert.ok(late.first.size <= bursts * 3, `${late.first.size} messages came after the first of their burst`)
      assert.ok(late.overdue.size <= bursts * 5, `${late.overdue.size} messages came too late for their turn`)
      assert.ok(late.again.size <= bursts, `${late.again.size} messages came again after a delivery that failed`)
    })
  }
})

// A bot writes bursts while everything fails that can fail, and agents press Retry on what is shown as failed. In the end each
// message has arrived once and in order and is shown as sent.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { SeededRandom } from '../../../sim/network/seeded-random.ts'
import type { EngineName } from '../../../src/storage/database.ts'
import { BotStage } from '../../harness/bot-stage.ts'
import { engines } from '../../harness/databases.ts'
import { LateCallbacks } from '../../harness/late-callbacks.ts'
import { rounds } from '../../harness/rounds.ts'
import { stallStorage } from '../../harness/stalled-storage.ts'
import { noMistakes } from '../../harness/truth.ts'
import { waitUntil } from '../../harness/wait-until.ts'

// CHAOS_SEED makes it another story.
const seed = process.env['CHAOS_SEED'] ?? 'causeway'
const perBurst = 20
const changes = { method: 'PATCH', path: /\/messages\/\d+$/ }

type Blow = { name: string; strike: (stage: BotStage, random: SeededRandom) => Promise<unknown> }

const blows: Blow[] = [
  { name: 'kill', strike: (stage) => stage.restart('SIGKILL') },
  { name: 'freeze', strike: freeze },
  { name: 'stop', strike: (stage) => stage.restart('SIGTERM') },
  { name: 'drop', strike: ({ world }) => world.network.strike({ kind: 'drop' }) },
  {
    name: 'away',
    strike: async ({ world: { helpdesk } }, random) => {
      helpdesk.workersAway(2000 + random.below(2000))
      await pause(2000)
    },
  },
  { name: 'stall', strike: ({ world }, random) => stallStorage(world.place.location, 500 + random.below(4000)) },
  { name: 'server', strike: ({ world }) => world.network.strike({ kind: 'server_restart' }) },
]

/** Longer than Chatwoot waits for an answer. */
async function freeze({ world: { service } }: BotStage): Promise<void> {
  service.send('SIGSTOP')
  await pause(6500)
  service.send('SIGCONT')
}

/** In each round the bot writes a burst to every customer, and something fails in the middle. */
async function torture(stage: BotStage, random: SeededRandom, count: number): Promise<void> {
  const { helpdesk } = stage.world
  for (let round = 0; round < count; round++) {
    await helpdesk.fault({ kind: 'status', status: 503, times: 2, ...changes })
    await helpdesk.fault({ kind: 'timeout', commit: 'at_once', times: 1, ...changes })
    const until = stage.written.length + random.below(perBurst * stage.customers.length)
    const strike = async () => {
      await waitUntil('the bot has begun', () => stage.written.length >= until)
      // Each kind once, then by chance.
      await blows[round < blows.length ? round : random.below(blows.length)]?.strike(stage, random)
    }
    await Promise.all([strike(), ...stage.customers.map((_, n) => burst(stage, n, `c${n} r${round}`, random))])
    // Some agents press Retry at once, also on messages whose failure is about to be corrected.
    await stage.retry(stage.failed.filter(() => random.below(2) === 0))
  }
}

async function burst(stage: BotStage, to: number, name: string, random: SeededRandom): Promise<void> {
  const customer = stage.customers[to]
  assert.ok(customer)
  for (let n = 0; n < perBurst; n++) {
    await stage.write(customer, `${name} m${n}`)
    await pause(random.below(20))
  }
}

/** Agents press Retry until nothing is shown as failed. */
async function retryAll(stage: BotStage): Promise<void> {
  await stage.settled()
  while (stage.failed.length > 0) {
    await stage.retry(stage.failed)
    await stage.settled()
  }
}

async function run(engine: EngineName): Promise<void> {
  const count = rounds({ gate: 7, long: 20 })
  await using stage = await BotStage.open({ engine, customers: rounds({ gate: 2, long: 4 }) })
  await torture(stage, new SeededRandom(`${seed} torture`), count)
  await retryAll(stage)
  const late = new LateCallbacks(stage.world.helpdesk.deliveries)
  const mistakes = stage.mistakes(late)
  dump(stage)
  console.log({ engine, written: stage.written.length, retries: stage.retries, first: late.first, overdue: late.overdue })
  assert.deepEqual(mistakes, noMistakes)
}

describe('bursts during failures', { concurrency: true }, () => {
  for (const engine of engines) {
    test(`each message arrives once, in order, and is shown as sent, on ${engine}`, { timeout: 900_000 }, () => run(engine))
  }
})

import { writeFileSync } from 'node:fs'
import { textOfMessage } from '../../../sim/network/people/received-message.ts'
function dump(stage: BotStage): void {
  const out: string[] = []
  const ds = stage.world.helpdesk.deliveries
  const byText = new Map(stage.written.map((m) => [m.content, m]))
  for (const { person } of stage.customers) {
    for (const { message } of person.messages.entries) {
      const text = textOfMessage(message) ?? ''
      const w = byText.get(text)
      const mine = ds.filter((d) => 'id' in d.body && d.body.id === w?.id && d.event.startsWith('message'))
      out.push(`${text} id=${w?.id} written=${(w?.createdAt ?? 0) % 1e6} ${mine.map((d) => `${d.event.slice(8, 9)}@${d.at % 1e6}:${d.status}${d.error ? ' ' + d.error.slice(0, 30) : ''}`).join(' | ')}`)
    }
  }
  writeFileSync(`/tmp/wt/torture.dump.${process.env['CHAOS_SEED'] ?? ''}.txt`, out.join('\n'))
}

// kill -9 of the whole service at any moment of a stream of messages: everything reaches the helpdesk, nothing twice.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { SeededRandom } from '../../../sim/network/seeded-random.ts'
import type { EngineName } from '../../../src/storage/database.ts'
import { KillableStage } from '../../harness/killable-stage.ts'
import { waitUntil } from '../../harness/wait-until.ts'

type Run = { engine: EngineName; messages: number; kills: number; chats: number }

const runs: Run[] = [
  {
    engine: 'sqlite',
    messages: Number(process.env['KILL_MESSAGES'] ?? 1000),
    kills: Number(process.env['KILL_ROUNDS'] ?? 8),
    chats: 20,
  },
  { engine: 'postgres', messages: 200, kills: 2, chats: 6 },
]

/** Somebody always writes, also while the service is down; the ids of what was written. */
async function writeAndKill(stage: KillableStage, { messages, kills, chats }: Run): Promise<string[]> {
  const { network, phone } = stage
  const people = Array.from({ length: chats - 1 }, (_, index) => network.person({ phone: `55119800${1000 + index}` }))
  const [first, ...others] = people
  assert.ok(first)
  const group = network.group('Team', first, [phone, ...others])
  const random = new SeededRandom('kill')
  const killAt = Array.from({ length: kills }, () => random.below(messages)).toSorted((a, b) => a - b)
  const written: string[] = []
  const write = async () => {
    for (let index = 0; index < messages; index++) {
      const person = people[index % people.length] ?? first
      written.push(person.text(index % chats === 0 ? group : phone, `m${index}`).id)
      await pause(random.below(40))
    }
  }
  const kill = async () => {
    for (const count of killAt) {
      await waitUntil(`${count} messages are written`, () => written.length > count, { timeoutMs: 120_000 })
      await stage.kill()
    }
  }
  await Promise.all([write(), kill()])
  return written
}

// Side by side: most of the time is spent waiting for the lease of a dead process and for posts that may still turn up.
describe('a killed service loses nothing and doubles nothing', { concurrency: true }, () => {
  for (const run of runs) {
    const name = `${run.messages} messages and ${run.kills} kills on ${run.engine}`
    test(name, { timeout: 240_000 }, async () => {
      await using stage = await KillableStage.open(run.engine)
      const { helpdesk } = stage
      const written = await writeAndKill(stage, run)
      const posted = () => helpdesk.messages().filter(({ messageType }) => messageType === 'incoming')
      const ids = () => posted().map(({ sourceId }) => sourceId ?? '')
      const all = () => new Set(ids()).size === written.length
      await waitUntil('every message has arrived', all, { timeoutMs: 120_000, instead: () => ids().length })
      await stage.service[Symbol.asyncDispose]()
      assert.deepEqual(ids().sort(), written.sort(), 'each one once')
      assert.equal(helpdesk.see.conversations().length, run.chats)
      helpdesk.assertNothingRefused()
    })
  }
})

test('a service killed while a conversation is being opened does not open a second one', async () => {
  await using stage = await KillableStage.open()
  const { helpdesk, network, phone } = stage
  const maria = network.person({ phone: '5511988887777' })
  const late = { kind: 'timeout', commit: 'late', commitMs: [14_000, 14_000], times: 1 } as const
  await helpdesk.fault({ ...late, method: 'POST', path: /\/conversations$/ })
  maria.text(phone, 'first')
  await helpdesk.waitForHeldRequests()
  await stage.kill()
  // Whoever takes over looks for a conversation of this contact.
  const lookedFor = () =>
    helpdesk.requests.filter(({ method, path }) => method === 'GET' && /\/conversations/.test(path))
  const before = lookedFor().length
  await waitUntil('it was looked for again', () => lookedFor().length > before + 1)
  assert.equal(helpdesk.see.conversations().length, 0)
  await helpdesk.advance(14_000)
  await waitUntil('the message is there', () => helpdesk.messages().length === 1)
  assert.equal(helpdesk.see.conversations().length, 1)
})

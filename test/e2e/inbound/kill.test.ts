// kill -9 of the whole service at any moment of a stream of messages: everything reaches the helpdesk, nothing twice.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { SeededRandom } from '../../../sim/network/seeded-random.ts'
import type { EngineName } from '../../../src/storage/database.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { rounds } from '../../harness/rounds.ts'
import { waitUntil } from '../../harness/wait-until.ts'

type Run = { engine: EngineName; messages: number; kills: number; chats: number }

const runs: Run[] = [
  {
    engine: 'sqlite',
    messages: rounds({ gate: 200, long: 1000 }),
    kills: rounds({ gate: 2, long: 8 }),
    chats: 20,
  },
  { engine: 'postgres', messages: rounds({ gate: 100, long: 200 }), kills: rounds({ gate: 1, long: 2 }), chats: 6 },
]

/** Somebody always writes, also while the service is down; the ids of what was written. */
async function writeAndKill(world: ProcessWorld, { messages, kills, chats }: Run): Promise<string[]> {
  const { network, phone } = world
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
      await world.kill()
    }
  }
  await Promise.all([write(), kill()])
  return written
}

// Side by side: most of the time is spent waiting for the lease of a dead process and for posts that may still turn up.
describe('a killed service loses nothing and doubles nothing', { concurrency: true }, () => {
  for (const run of runs) {
    const name = `${run.kills} × kill -9 among ${run.messages} messages on ${run.engine}`
    test(name, { timeout: 300_000 }, async () => {
      await using world = await ProcessWorld.open({ engine: run.engine })
      const { helpdesk } = world
      const written = await writeAndKill(world, run)
      const posted = () => helpdesk.messages().filter(({ messageType }) => messageType === 'incoming')
      const ids = () => posted().map(({ sourceId }) => sourceId ?? '')
      const all = () => new Set(ids()).size === written.length
      await waitUntil('every message has arrived', all, { timeoutMs: 120_000, instead: () => ids().length })
      await world.service[Symbol.asyncDispose]()
      assert.deepEqual(ids().sort(), written.sort(), 'each one once')
      assert.equal(helpdesk.see.conversations().length, run.chats)
      helpdesk.assertNothingRefused()
    })
  }

  test('a service killed while a conversation is being opened does not open a second one', async () => {
    await using world = await ProcessWorld.open()
    const { helpdesk, network, phone } = world
    const maria = network.person({ phone: '5511988887777' })
    const late = { kind: 'timeout', commit: 'late', commitMs: [14_000, 14_000], times: 1 } as const
    await helpdesk.fault({ ...late, method: 'POST', path: /\/conversations$/ })
    maria.text(phone, 'first')
    await helpdesk.waitForHeldRequests()
    await world.kill()
    // The process that takes over looks for a conversation of this contact.
    const lookedFor = () =>
      helpdesk.requests.filter(({ method, path }) => method === 'GET' && /\/conversations/.test(path))
    const before = lookedFor().length
    await waitUntil('it was looked for again', () => lookedFor().length > before + 1)
    assert.equal(helpdesk.see.conversations().length, 0)
    await helpdesk.advance(14_000)
    await waitUntil('the message is there', () => helpdesk.messages().length === 1)
    assert.equal(helpdesk.see.conversations().length, 1)
  })
})

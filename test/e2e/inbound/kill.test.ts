// kill -9 of the whole service at any moment of a stream of messages, and lost connections: everything reaches the helpdesk,
// once and in order.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { lifelike } from '../../../sim/helpdesk/settings.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { SeededRandom } from '../../../sim/network/seeded-random.ts'
import type { SimNetwork } from '../../../sim/network/sim-network.ts'
import type { EngineName } from '../../../src/storage/database.ts'
import { harshNetwork } from '../../harness/harsh-network.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { rounds } from '../../harness/rounds.ts'
import { mistakesIn, noMistakes } from '../../harness/truth.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { DeskClient } from '../../sim-helpdesk/harness/desk-client.ts'

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

/** Customers write all the time, also while the service is down. The ids of what was written, by chat. */
async function writeAndKill(world: ProcessWorld, { messages, kills, chats }: Run): Promise<string[][]> {
  const { network, phone } = world
  const people = Array.from({ length: chats - 1 }, (_, index) => network.person({ phone: `55119800${1000 + index}` }))
  const [first, ...others] = people
  assert.ok(first)
  const group = network.group('Team', first, [phone, ...others])
  const random = new SeededRandom('kill')
  const killAt = Array.from({ length: kills }, () => random.below(messages)).toSorted((a, b) => a - b)
  const written: { id: string; chat: number }[] = []
  const write = async () => {
    for (let index = 0; index < messages; index++) {
      const sender = index % people.length
      const isForGroup = index % chats === 0
      if (index % 10 === 5) writeStatus(network, people[sender] ?? first)
      const { id } = (people[sender] ?? first).text(isForGroup ? group : phone, `m${index}`)
      written.push({ id, chat: isForGroup ? -1 : sender })
      await pause(random.below(40))
    }
  }
  const kill = async () => {
    for (const count of killAt) {
      await waitUntil(`${count} messages are written`, () => written.length > count, { timeoutMs: 300_000 })
      await world.kill()
      await listen(world)
      await network.strike({ kind: 'drop' })
    }
  }
  await Promise.all([write(), kill()])
  return [...Map.groupBy(written, ({ chat }) => chat).values()].map((chat) => chat.map(({ id }) => id))
}

/** A status that cannot be opened. */
function writeStatus(network: SimNetwork, author: SimPerson): void {
  network.fault({ kind: 'undecryptable' })
  author.status('my day')
}

/** The helpdesk calls the process that runs now. */
async function listen(world: ProcessWorld): Promise<void> {
  const channel = { webhook_url: `${await world.service.ready()}/api/instances/n0/webhook` }
  await new DeskClient(world.helpdesk).patch('/inboxes/1', { channel })
}

/** Compares what was written with what the helpdesk has, chat by chat. */
function mistakesAt({ helpdesk }: ProcessWorld, written: readonly string[][]) {
  const posted = helpdesk.messages().filter(({ messageType }) => messageType === 'incoming')
  const conversations = Map.groupBy(posted, ({ conversationId }) => conversationId)
  const failed = new Set(
    posted.filter(({ contentAttributes }) => isOurFault(contentAttributes)).map(({ sourceId }) => sourceId),
  )
  const chats = written.map((ids) => {
    const received = [...conversations.values()].find((chat) => chat.some(({ sourceId }) => sourceId === ids[0])) ?? []
    return {
      written: ids.map((id) => ({ id, isFailed: failed.has(id) })),
      received: received.map(({ sourceId }) => sourceId ?? ''),
    }
  })
  return mistakesIn(chats)
}

/** Chatwoot marks a customer's message as failed when its callback fails. While no service runs, that cannot be avoided. */
function isOurFault({ external_error: error }: Record<string, unknown>): boolean {
  return typeof error === 'string' && /^\d{3} /.test(error)
}

// Side by side: most of the time is spent waiting for the lease of a dead process and for posts that may still turn up.
describe('a killed service loses nothing, doubles nothing and keeps the order', { concurrency: true }, () => {
  for (const run of runs) {
    const name = `${run.kills} × kill -9 among ${run.messages} messages on ${run.engine}`
    test(name, { timeout: 600_000 }, async () => {
      const { engine, messages, chats } = run
      await using world = await ProcessWorld.open({ engine, network: harshNetwork, helpdesk: { quirks: lifelike } })
      const { helpdesk } = world
      await listen(world)
      const written = await writeAndKill(world, run)
      const ids = () =>
        helpdesk.messages().flatMap(({ messageType, sourceId }) => (messageType === 'incoming' ? sourceId : []))
      const all = () => new Set(ids()).size === messages
      await waitUntil('every message has arrived', all, { timeoutMs: 300_000, instead: () => ids().length })
      await helpdesk.settled()
      await world.service[Symbol.asyncDispose]()
      assert.deepEqual(mistakesAt(world, written), noMistakes)
      assert.equal(helpdesk.see.conversations().length, chats)
      helpdesk.assertNothingRefused()
    })
  }

  test('a service killed while a conversation is being opened does not open a second one', async () => {
    // The clock of the helpdesk stands still: a process may take its time to start before the late commit.
    const clock = new ManualClock(Date.now())
    await using world = await ProcessWorld.open({ helpdesk: { clock } })
    const { helpdesk, network, phone } = world
    const maria = network.person({ phone: '5511988887777' })
    const late = { kind: 'timeout', commit: 'late', commitMs: [14_000, 14_000], times: 1 } as const
    await helpdesk.fault({ ...late, method: 'POST', path: /\/conversations$/ })
    maria.text(phone, 'first')
    await helpdesk.waitForHeldRequests()
    const lookedFor = () =>
      helpdesk.requests.filter(({ method, path }) => method === 'GET' && /\/conversations/.test(path))
    const before = lookedFor().length
    await world.kill()
    // The process that takes over looks for a conversation of this contact.
    await waitUntil('it was looked for again', () => lookedFor().length > before)
    assert.equal(helpdesk.see.conversations().length, 0)
    await clock.advance(14_000)
    await waitUntil('the message is there', () => helpdesk.messages().length === 1)
    assert.equal(helpdesk.see.conversations().length, 1)
  })
})

// The process is killed while people write to it, and receipts get lost: every message is in the inbox exactly once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { SeededRandom } from '../../../sim/network/seeded-random.ts'
import type { NetworkEvent } from '../../../src/core/message.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { WhatsappNetwork } from '../../../src/network/whatsapp-network.ts'
import { openDatabase } from '../../../src/storage/database.ts'
import { JournalStore } from '../../../src/storage/stores/messages/journal-store.ts'
import { inboxSecrets } from '../../../src/storage/schema/messages.ts'
import { SessionKeyStore } from '../../../src/storage/stores/accounts/session-key-store.ts'
import { silentLog } from '../../harness/logs.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import type { ClientOptions } from '../harness/client-process.ts'
import { Line } from '../harness/line.ts'
import { stage, startClient } from '../harness/torture-stage.ts'
import type { EventContext } from '../harness/torture-stage.ts'

/** Ids of everything written while a client lived; it dies just after one of its receipts, or at any other moment. */
async function oneLife(scene: EventContext, options: ClientOptions, random: SeededRandom): Promise<string[]> {
  const { sim, phone, people, group } = scene
  const written: string[] = []
  const write = () => {
    const person = people[random.below(people.length)]
    if (random.below(10) === 0) sim.fault({ kind: 'lost_receipt' })
    if (person) written.push(person.text(random.below(3) === 0 ? group : phone, 'in').id)
  }
  // Some of it waits for the client.
  for (let count = 4 + random.below(10); count > 0; count--) write()
  const client = await startClient(options)
  const writing = setInterval(write, 6)
  for (let left = 2 + random.below(12); left > 0; left--) await nextReceipt(people)
  if (random.below(3) === 0) await pause(random.below(8))
  clearInterval(writing)
  await client.end()
  return written
}

/** Of the client: the phone confirms for itself. */
function nextReceipt(people: readonly SimPerson[]): Promise<unknown> {
  const next = people.map(({ receipts }) =>
    receipts.waitAfter(receipts.length, 'the next receipt', ({ device }) => device > 0),
  )
  return Promise.race(next)
}

/** What is in the inbox after everything that waits has been taken. */
async function inbox({ phone, sim }: EventContext, options: ClientOptions): Promise<NetworkEvent[]> {
  await using database = await openDatabase({ location: options.location, encryptionKeys: [], log: silentLog })
  const { epoch, settings } = options
  const keys = new SessionKeyStore(database)
  const journal = new JournalStore(database)
  const deps = { keys, journal, epoch: () => epoch, clock: systemClock, log: silentLog, settings }
  sim.faults.clear()
  await using network = new WhatsappNetwork(deps)
  const line = await Line.open(network, 's')
  await line.drained()
  await waitUntil('the books are settled', () => phone.companion.books.size === 0)
  const rows = await database.read(database.query.selectFrom('inbox').selectAll().orderBy('id'), inboxSecrets)
  return rows.map(({ event }) => JSON.parse(Buffer.from(event).toString()) as NetworkEvent)
}

async function run(way: ClientOptions['way'], lives: number) {
  await using stack = new AsyncDisposableStack()
  const { options, ...scene } = await stage(stack, way)
  const random = new SeededRandom('deaths')
  const written: string[] = []
  for (let life = 0; life < lives; life++) written.push(...(await oneLife(scene, { ...options, targets: [] }, random)))
  const events = await inbox(scene, options)
  const counts = new Map<string, number>()
  for (const { kind, id } of events) if (kind === 'message') counts.set(id, (counts.get(id) ?? 0) + 1)
  return {
    written: written.length,
    lost: written.filter((id) => !counts.has(id)),
    doubled: [...counts].filter(([, count]) => count > 1),
    unopened: events.flatMap((event) => (event.kind === 'undecryptable' ? [event.reason] : [])),
  }
}

test('after ten kills every message is in the inbox, once', { timeout: 120_000 }, async () => {
  const { written, ...outcome } = await run('protected', 10)
  assert.ok(written > 100, `${written} messages were written`)
  assert.deepEqual(outcome, { lost: [], doubled: [], unopened: [] })
})

test('with the journal switched off the same kills lose messages', { timeout: 120_000 }, async () => {
  const { lost } = await run('unjournalled', 5)
  assert.ok(lost.length > 0)
})

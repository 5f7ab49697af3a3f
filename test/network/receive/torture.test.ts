// The process is killed while people write to it, and receipts get lost: every message is in the inbox exactly once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { SeededRandom } from '../../../sim/network/seeded-random.ts'
import type { NetworkEvent } from '../../../src/core/message.ts'
import { inboxSecrets } from '../../../src/storage/schema/messages.ts'
import { rounds } from '../../harness/rounds.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { every, TortureBed } from '../harness/torture-bed.ts'

const kills = rounds({ gate: 4, long: 10 })
const saveMs = 4
/** So many messages wait for each client at least. */
const waiting = 10

/** Ids of everything written while a client lived; it dies just after one of its receipts, or at any other moment. */
async function oneLife(bed: TortureBed, random: SeededRandom): Promise<string[]> {
  const { sim, phone, people, group } = bed
  const written: string[] = []
  const write = () => {
    const person = people[random.below(people.length)]
    // The first receipt of every life is lost, and then one in ten.
    if (written.length === 0 || random.below(10) === 0) sim.fault({ kind: 'lost_receipt' })
    if (person) written.push(person.text(random.below(3) === 0 ? group : phone, 'in').id)
  }
  for (let count = waiting + random.below(10); count > 0; count--) write()
  await using stack = new AsyncDisposableStack()
  stack.use(await bed.startClient('reader', []))
  stack.use(every(6, write))
  for (let left = 2 + random.below(12); left > 0; left--) await nextReceipt(people)
  if (random.below(3) === 0) await pause(random.below(8))
  return written
}

/** The next receipt of the client; the phone has receipts of its own. */
function nextReceipt(people: readonly SimPerson[]): Promise<unknown> {
  const next = people.map(({ receipts }) =>
    receipts.waitAfter(receipts.length, 'the next receipt', ({ device }) => device > 0),
  )
  return Promise.race(next)
}

/** The inbox after everything that waits has been taken. */
async function inboxOf(bed: TortureBed): Promise<NetworkEvent[]> {
  await using stack = new AsyncDisposableStack()
  bed.sim.faults.clear()
  const { database } = await bed.takeOver(stack)
  await waitUntil('the books are settled', () => bed.phone.companion.books.size === 0)
  const rows = await database.read(database.query.selectFrom('inbox').selectAll().orderBy('id'), inboxSecrets)
  return rows.map(({ event }) => JSON.parse(Buffer.from(event).toString()) as NetworkEvent)
}

/** How often each message is in the inbox. */
function counted(events: readonly NetworkEvent[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { kind, id } of events) if (kind === 'message') counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}

test(`after ${kills} kills every message is in the inbox, once`, async () => {
  await using bed = await TortureBed.open('protected', saveMs)
  const random = new SeededRandom('deaths')
  const written: string[] = []
  for (let life = 0; life < kills; life++) written.push(...(await oneLife(bed, random)))
  const events = await inboxOf(bed)
  const counts = counted(events)
  assert.ok(written.length >= kills * waiting, `${written.length} messages were written`)
  assert.deepEqual(
    {
      lost: written.filter((id) => !counts.has(id)),
      doubled: [...counts].filter(([, count]) => count > 1),
      unopened: events.flatMap((event) => (event.kind === 'undecryptable' ? [event.reason] : [])),
    },
    { lost: [], doubled: [], unopened: [] },
  )
})

test('with the journal switched off the same kills lose messages', async () => {
  await using bed = await TortureBed.open('unjournalled', saveMs)
  const random = new SeededRandom('deaths')
  const written: string[] = []
  let lost: string[] = []
  // Where each kill strikes is up to chance; the first loss is enough.
  for (let life = 0; life < 20 && lost.length === 0; life++) {
    written.push(...(await oneLife(bed, random)))
    const counts = counted(await inboxOf(bed))
    lost = written.filter((id) => !counts.has(id))
  }
  assert.ok(lost.length > 0)
})

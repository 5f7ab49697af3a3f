// Parked rows are tried again, also when storage is away, refuses a row, or two requests come at once.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { StorageError } from '../../../src/storage/engine/statement.ts'
import type { StorageFailure } from '../../../src/storage/engine/statement.ts'
import { inboxSecrets } from '../../../src/storage/schema/messages.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { BridgeBed, message, person } from './harness/bridge-bed.ts'

const minute = 60_000
const texts = ['one', 'two', 'three']

async function bedWithParked(options: Parameters<typeof BridgeBed.open>[0] = {}): Promise<BridgeBed> {
  const bed = await BridgeBed.open(options)
  for (const [index, text] of texts.entries()) await bed.store(message(text, { chat: person(`551190000${index}`) }))
  await bed.database.write(bed.database.query.updateTable('inbox').set({ state: 'parked' }))
  await bed.take('a')
  return bed
}

/** Storage cannot read whole rows until the returned function is called. */
function refuseRows(bed: BridgeBed): () => void {
  const { database } = bed
  const read = database.read.bind(database)
  const isRefused: typeof database.read = (query, opens) =>
    opens === inboxSecrets ? Promise.reject(new StorageError('unavailable', 'storage is away')) : read(query, opens)
  database.read = isRefused
  return () => {
    database.read = read
  }
}

/** The next reads of whole rows end like this, one after the other. */
function failRows(bed: BridgeBed, failures: StorageFailure[]): void {
  const { database } = bed
  const read = database.read.bind(database)
  const fails: typeof database.read = (query, opens) => {
    const failure = opens === inboxSecrets ? failures.shift() : undefined
    return failure ? Promise.reject(new StorageError(failure, 'no answer')) : read(query, opens)
  }
  database.read = fails
}

/** The stored event of the row cannot be opened any more. */
async function damage(bed: BridgeBed, id: string): Promise<void> {
  const update = bed.database.query.updateTable('inbox').set({ event: Buffer.from([255, 1, 2]) as never })
  await bed.database.write(update.where('id', '=', id))
}

test('parked rows that cannot be read after they became pending are posted when storage answers', async () => {
  await using bed = await bedWithParked()
  const answer = refuseRows(bed)
  assert.equal(await bed.inbound.retryParked('a'), 3)
  await bed.settle()
  assert.deepEqual(bed.inbound.counts(), { pending: 3, parked: 0 })
  answer()
  await bed.postedWithin(3, minute)
  await bed.drained()
  assert.deepEqual(bed.helpdesk.contents.toSorted(), texts.toSorted())
  await waitUntil('no row is pending', () => bed.inbound.counts().pending === 0)
})

test('two requests at once post every parked row once, and count it once', async () => {
  await using bed = await bedWithParked()
  const retried = await Promise.all([bed.inbound.retryParked('a'), bed.inbound.retryParked('a')])
  assert.deepEqual(retried, [3, 0])
  assert.deepEqual(bed.inbound.counts(), { pending: 3, parked: 0 })
  await bed.posted(3)
  await bed.drained()
  await bed.settle()
  assert.deepEqual(bed.helpdesk.contents.toSorted(), texts.toSorted())
  await waitUntil('no row is pending', () => bed.inbound.counts().pending === 0)
  assert.equal(bed.inbound.counts().parked, 0)
})

test('a request that waits too long for stored rows is refused, and the next one is followed', async () => {
  await using bed = await bedWithParked()
  await bed.leave('a')
  await bed.store(message('stored'))
  const answer = refuseRows(bed)
  await bed.take('a')
  const refused = assert.rejects(bed.inbound.retryParked('a'), { code: 'SERVICE_OVERLOADED' })
  await bed.pass(10_000)
  await refused
  answer()
  await bed.postedWithin(4, minute)
  await bed.drained()
  assert.deepEqual(bed.helpdesk.contents.toSorted(), [...texts, 'stored'].toSorted())
})

test('a stored row is not parked because storage was away for long and then refused it once', async () => {
  await using bed = await BridgeBed.open()
  await bed.store(message('stored'))
  const away = Array.from({ length: 5 }, () => 'unavailable' as const)
  // The first refusal concerns the page.
  failRows(bed, ['failed', ...away, 'failed'])
  await bed.take('a')
  await bed.postedWithin(1, 2 * minute)
  assert.equal(bed.inbound.counts().parked, 0)
})

function onlyParked(bed: BridgeBed): Promise<void> {
  const isSo = () => bed.inbound.counts().parked === 1 && bed.inbound.counts().pending === 0
  return waitUntil('one row is parked and none is pending', isSo, { instead: () => bed.inbound.counts() })
}

for (const engine of drawnEngines(import.meta.url)) {
  describe(`a stored row that cannot be read, on ${engine}`, () => {
    test('is parked, and the other rows are posted', async () => {
      await using bed = await BridgeBed.open({ engine })
      const rows = []
      for (const text of texts) rows.push(await bed.store(message(text)))
      await damage(bed, rows[1]?.id ?? '')
      await bed.take('a')
      await bed.postedWithin(2, minute)
      assert.deepEqual(bed.helpdesk.contents, ['one', 'three'])
      await onlyParked(bed)
      const [parked] = await bed.set.parked.list('a')
      assert.match(parked?.lastError ?? '', /cannot be read: damaged/)
      // The answer does not wait until the row is parked again.
      assert.equal(await bed.inbound.retryParked('a'), 1)
      await bed.receive(message('new'))
      await bed.postedWithin(3, minute)
      await onlyParked(bed)
    })
  })
}

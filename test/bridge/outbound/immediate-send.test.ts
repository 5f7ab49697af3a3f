// A message to a known customer is made ready while its row is stored, and leaves as soon as the row is stored.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { waitUntil } from '../../harness/wait-until.ts'
import { OutboundBed } from './harness/outbound-bed.ts'
import { rowOf } from './harness/views.ts'

/** Bob has written before, so that nothing has to be asked before he is written to. */
async function openKnown(): Promise<{ bed: OutboundBed; [Symbol.asyncDispose](): Promise<void> }> {
  const bed = await OutboundBed.open()
  await bed.hears('hi')
  return { bed, [Symbol.asyncDispose]: () => bed[Symbol.asyncDispose]() }
}

const waits = (bed: OutboundBed, id: number) =>
  bed.until('it waits', async () => (await rowOf(bed, id)).expires_at != null, { stepMs: 0 })

async function assertWaits(bed: OutboundBed, id: number): Promise<void> {
  const { status, waiting, attempts, unconfirmed } = await rowOf(bed, id)
  assert.deepEqual([status, waiting, attempts, unconfirmed], ['pending', 1, 0, 0])
}

test('a message leaves once, under the id it was stored with, and those behind it wait', async () => {
  await using set = await openKnown()
  const { bed } = set
  assert.equal(bed.location.engine, 'sqlite')
  using reader = new DatabaseSync(bed.location.path, { readOnly: true })
  const storedWhenLeaving: unknown[] = []
  bed.network.beforeFrame = () => {
    const row = reader.prepare('SELECT status, parts FROM outbox ORDER BY id DESC LIMIT 1').get()
    storedWhenLeaving.push(row?.['status'])
  }
  let prepared = 0
  bed.network.whilePreparing = () => {
    prepared += 1
  }
  const answers = [bed.post(bed.callback(1, 'x')), bed.post(bed.callback(2, 'y'))]
  for (const answer of answers) assert.equal((await answer).status, 200)
  assert.deepEqual(bed.texts(), ['x', 'y'])
  assert.equal(prepared, 2)
  assert.equal(storedWhenLeaving[0], 'sending', 'nothing leaves before it is stored')
  const { status, attempts, parts } = await rowOf(bed, 1)
  const [first] = bed.network.to(bed.bob)
  assert.deepEqual([status, attempts, parts], ['sent', 1, [{ id: first?.id, of: 'text', state: 'sent' }]])
})

test('a message that leaves at once without an acknowledgement is repeated under its id', async () => {
  await using set = await openKnown()
  const { bed } = set
  bed.network.fault({ kind: 'in_doubt' })
  const answer = bed.post(bed.callback(1, 'x'))
  await bed.until('it is in doubt', async () => (await rowOf(bed, 1)).unconfirmed === 1, { stepMs: 0 })
  await bed.pass(5000)
  await bed.until('it is sent', async () => (await rowOf(bed, 1)).status === 'sent', { stepMs: 0 })
  assert.equal((await answer).status, 202)
  assert.deepEqual([bed.texts(), bed.network.duplicates], [['x'], 1])
})

test('a message whose connection is lost before the message is stored waits like any other and is not in doubt', async () => {
  await using set = await openKnown()
  const { bed } = set
  bed.network.whilePreparing = () => {
    bed.disconnect()
  }
  assert.equal((await bed.post(bed.callback(1, 'x'))).status, 202)
  await waits(bed, 1)
  await assertWaits(bed, 1)
  bed.network.whilePreparing = () => undefined
  bed.connect()
  await bed.received('x')
})

test('a message whose connection is lost while the message is stored waits like any other, too', async () => {
  await using set = await openKnown()
  const { bed } = set
  bed.network.beforeFrame = () => {
    bed.disconnect()
  }
  assert.equal((await bed.post(bed.callback(1, 'x'))).status, 202)
  await waits(bed, 1)
  await assertWaits(bed, 1)
  bed.network.beforeFrame = () => undefined
  bed.connect()
  await bed.received('x')
})

test('a message that is not accepted does not hold up its chat, however long it is being made ready', async () => {
  await using set = await openKnown()
  const { bed } = set
  const ready = Promise.withResolvers<undefined>()
  let preparing = 0
  bed.network.whilePreparing = async () => {
    if (++preparing === 1) await ready.promise
  }
  const change = (sql: string) => bed.database.write({ sql, parameters: [] })
  await change(`CREATE TRIGGER refuses BEFORE INSERT ON outbox BEGIN SELECT RAISE(ABORT, 'no'); END`)
  assert.equal((await bed.post(bed.callback(1, 'x'))).status, 500)
  await waitUntil('it is being made ready', () => preparing === 1)
  await change('DROP TRIGGER refuses')
  assert.equal((await bed.post(bed.callback(2, 'y'))).status, 200)
  ready.resolve(undefined)
  await bed.settle()
  assert.deepEqual(bed.texts(), ['y'])
})

test('without a connection no message leaves at once', async () => {
  await using set = await openKnown()
  const { bed } = set
  let prepared = 0
  bed.network.whilePreparing = () => {
    prepared += 1
  }
  bed.disconnect()
  assert.equal((await bed.post(bed.callback(1, 'x'))).status, 202)
  assert.deepEqual([prepared, bed.network.frames], [0, 0])
})

test('a message is answered as sent before that is stored, and is repeated under its id when it cannot be stored', async () => {
  await using set = await openKnown()
  const { bed } = set
  const change = (sql: string) => bed.database.write({ sql, parameters: [] })
  await change(`CREATE TRIGGER refuses BEFORE UPDATE OF status ON outbox WHEN NEW.status = 'sent'
                BEGIN SELECT RAISE(ABORT, 'no'); END`)
  assert.equal((await bed.post(bed.callback(1, 'x'))).status, 200)
  assert.equal((await rowOf(bed, 1)).status, 'sending')
  await change('DROP TRIGGER refuses')
  await bed.pass(5000)
  await bed.until('it is sent', async () => (await rowOf(bed, 1)).status === 'sent', { stepMs: 0 })
  assert.deepEqual(bed.texts(), ['x'])
  assert.ok(bed.network.duplicates > 0)
  assert.equal((await bed.outbox()).sent, 1)
})

test('a message that was answered as sent is found as sent', async () => {
  await using set = await openKnown()
  const { bed } = set
  for (const id of [1, 2, 3]) {
    assert.equal((await bed.post(bed.callback(id, `text ${id}`))).status, 200)
    assert.equal((await rowOf(bed, id)).status, 'sent')
  }
  const { pending, sent } = await bed.outbox()
  assert.deepEqual([pending, sent], [0, 3])
})

test('a process that ends stores first that messages were sent', async () => {
  await using set = await openKnown()
  const { bed } = set
  assert.equal((await bed.post(bed.callback(1, 'x'))).status, 200)
  await bed.restart()
  assert.equal((await rowOf(bed, 1)).status, 'sent')
  assert.deepEqual([bed.texts(), bed.network.duplicates], [['x'], 0])
})

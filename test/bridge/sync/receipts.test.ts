// Receipts are collected, stored together and confirmed afterwards. Each is counted once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TickBed } from './harness/tick-bed.ts'

const ids = (count: number, prefix = 'w') => Array.from({ length: count }, (_, n) => `${prefix}${n}`)

test('a burst of receipts is stored in one commit and makes one request for each message', async () => {
  await using bed = await TickBed.open()
  const all = ids(100)
  for (const [n, id] of all.entries()) await bed.map(id, { messageId: n + 1 })
  const receipts = all.flatMap((id) => [
    bed.receive([id], { type: 'delivered' }),
    ...[1, 2, 3, 4].map(() => bed.receive([id])),
  ])
  await bed.pass(100)
  assert.equal(bed.commits, 1)
  assert.ok(receipts.every(({ isConfirmed }) => isConfirmed))
  for (let round = 0; round < 20 && bed.set.length < 100; round++) await bed.pass(0)
  assert.deepEqual(bed.set.toSorted(), all.map((_, n) => `${n + 1} read`).toSorted())
  await bed.pass(0)
  assert.deepEqual(bed.counted, { ok: 500 })
})

test('a receipt is not confirmed before it is stored, and storage that is away is asked again', async () => {
  await using bed = await TickBed.open()
  await bed.map('w1', { messageId: 6 })
  let isAway = true
  bed.beforeCommit = () => (isAway ? Promise.reject(new Error('storage is away')) : Promise.resolve())
  const receipt = bed.receive(['w1'])
  await bed.pass(5000)
  assert.deepEqual([receipt.isConfirmed, bed.set], [false, []])
  isAway = false
  await bed.pass(1000)
  await bed.pass(0)
  assert.deepEqual([receipt.isConfirmed, bed.set, bed.counted], [true, ['6 read'], { ok: 1 }])
})

test('a receipt for a message that is not mapped yet waits for it', async () => {
  await using bed = await TickBed.open()
  const receipt = bed.receive(['w1'])
  await bed.pass(30_000)
  await bed.map('w1', { messageId: 6 })
  assert.deepEqual([receipt.isConfirmed, bed.counted], [false, {}])
  await bed.pass(20_000)
  await bed.pass(0)
  assert.deepEqual([receipt.isConfirmed, bed.set, bed.counted], [true, ['6 read'], { ok: 1 }])
})

test('only 1,000 receipts of an instance wait; the oldest ones are given up', async () => {
  await using bed = await TickBed.open()
  const others = bed.receive(['other'], { instance: 'second' })
  const [first, ...more] = ids(1001, 'unknown').map((id) => bed.receive([id]))
  await bed.pass(200)
  assert.deepEqual(bed.counted, { no_contact: 1 })
  assert.deepEqual(
    [first?.isConfirmed, more.some(({ isConfirmed }) => isConfirmed), others.isConfirmed],
    [true, false, false],
  )
  await bed.pass(61_000)
  assert.deepEqual(bed.counted, { no_contact: 1002 })
  assert.ok(more.every(({ isConfirmed }) => isConfirmed) && others.isConfirmed)
})

test('receipts of a connection that has ended are dropped, and count when they come again', async () => {
  await using bed = await TickBed.open()
  const connection = new AbortController()
  const lost = bed.receive(['unknown'], { gone: connection.signal })
  await bed.pass(1000)
  connection.abort()
  const again = bed.receive(['unknown'])
  await bed.pass(61_000)
  assert.deepEqual([lost.isConfirmed, again.isConfirmed, bed.counted], [false, true, { no_contact: 1 }])
})

test('receipts of an instance that leaves are dropped', async () => {
  await using bed = await TickBed.open()
  await bed.map('w1', { messageId: 6 })
  const [known, unknown] = [bed.receive(['w1']), bed.receive(['unknown'])]
  bed.intake.leave('desk')
  await bed.pass(61_000)
  assert.deepEqual([known.isConfirmed, unknown.isConfirmed, bed.counted, bed.set], [false, false, {}, []])
})

test('one receipt for many messages is confirmed when all of them are stored', async () => {
  await using bed = await TickBed.open()
  await bed.map('w1', { messageId: 6 })
  const receipt = bed.receive(['w1', 'w2'])
  await bed.pass(100)
  await bed.pass(0)
  assert.deepEqual([receipt.isConfirmed, bed.set], [false, ['6 read']])
  await bed.map('w2', { messageId: 7 })
  await bed.pass(1000)
  await bed.pass(0)
  assert.deepEqual([receipt.isConfirmed, bed.set], [true, ['6 read', '7 read']])
})

test('many chats that the owner read at once are marked as seen four at a time', async () => {
  await using bed = await TickBed.open()
  const all = ids(10)
  for (const [n, id] of all.entries()) await bed.mapReceived(id, n + 1)
  const slow = Promise.withResolvers<undefined>()
  const marked: number[] = []
  bed.markSeen = async ({ conversationId }) => {
    marked.push(conversationId)
    await slow.promise
    return 'ok'
  }
  const receipt = bed.receive(all, { type: 'read_self' })
  await bed.pass(100)
  await bed.pass(0)
  assert.deepEqual([marked.length, receipt.isConfirmed], [4, false])
  slow.resolve(undefined)
  await bed.pass(0)
  assert.deepEqual([marked.length, receipt.isConfirmed, bed.counted], [10, true, { ok: 10 }])
})

// Messages that wait for their connection cost the database little: at a start, and while they wait.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../../../src/storage/database.ts'
import { toStatement } from '../../../src/storage/engine/statement.ts'
import { OutboundBed } from './harness/outbound-bed.ts'

/** Counts the operations about the outbox from now on. */
function operationsOf(database: Database): { reads: number; writes: number } {
  const counts = { reads: 0, writes: 0 }
  const read = database.read.bind(database)
  const write = database.write.bind(database)
  const isOutbox = (sql: string) => /(from|update) "outbox"/.test(sql)
  database.read = (query, opens) => {
    if (isOutbox(toStatement(query).sql)) counts.reads++
    return read(query, opens)
  }
  database.write = (...steps) => {
    if (steps.some((step) => isOutbox('sql' in step ? step.sql : toStatement(step).sql))) counts.writes++
    return write(...steps)
  }
  return counts
}

test('a start writes nothing about messages that wait with a time limit', async () => {
  await using bed = await OutboundBed.open()
  bed.disconnect()
  assert.equal((await bed.post(bed.callback(100, 'hello'))).status, 202)
  const operations = operationsOf(bed.database)
  await bed.restart()
  assert.equal(operations.writes, 0)
  assert.equal(bed.process.outbound.pendingOf('n0'), 1)
})

test('a start gives a time limit to a message that has none', async () => {
  await using bed = await OutboundBed.open()
  bed.disconnect()
  await bed.post(bed.callback(100, 'hello'))
  await bed.database.write(bed.database.query.updateTable('outbox').set({ expires_at: null }))
  await bed.restart()
  const [row] = await bed.database.read(bed.database.query.selectFrom('outbox').select('expires_at'))
  assert.ok((row?.expires_at ?? 0) > bed.clock.now())
})

test('a look at the time limits reads once for ten instances, and writes nothing while none is over', async () => {
  await using bed = await OutboundBed.open({ accounts: 20 })
  for (const name of bed.accounts.names) bed.disconnect(name)
  for (const [index, instance] of bed.accounts.names.entries()) {
    const { conversationId: id } = await bed.hears(`from the customer of ${instance}`, { instance })
    const { conversation } = bed.callback(0, '')
    const callback = bed.callback(100 + index, 'hello', { conversation: { ...(conversation as object), id } })
    assert.equal((await bed.post(callback)).status, 202)
  }
  const operations = operationsOf(bed.database)
  await bed.process.worker('outbox-expire').tick()
  // The first read finds the instances.
  assert.deepEqual(operations, { reads: 3, writes: 0 })
})

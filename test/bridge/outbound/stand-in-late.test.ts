// The owner stores a message too late and refuses it. The stand-in finds the row, and what it answers is true.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { withoutPostgres } from '../../harness/databases.ts'
import { Bystander } from '../../harness/postgres-bystander.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { rowOf } from './harness/views.ts'
import { StandInBed } from './harness/stand-in-bed.ts'

/** The owner has refused message 7, has stored it, and cannot withdraw it until the returned function is called. */
async function refusedTooLate(stage: StandInBed): Promise<() => Promise<unknown>> {
  const { bed } = stage
  const change = (sql: string) => bed.database.write({ sql, parameters: [] })
  await change(`CREATE FUNCTION keep() RETURNS trigger AS 'BEGIN RAISE ''no''; END' LANGUAGE plpgsql`)
  await change(`CREATE TRIGGER keeps BEFORE UPDATE ON outbox FOR EACH ROW WHEN (NEW.status = 'refused')
                EXECUTE FUNCTION keep()`)
  await using bystander = await Bystander.connect(bed.location)
  await bystander.lock('outbox')
  let status = 0
  void bed.post(bed.callback(7, 'too slow')).then((answer) => (status = answer.status))
  await waitUntil('the owner answers', async () => {
    await bed.clock.advance(100)
    return status > 0
  })
  assert.equal(status, 500)
  await bystander.unlock()
  await bed.until('it is stored', async () => (await stage.rows()).length === 1)
  return () => change('DROP TRIGGER keeps ON outbox')
}

describe('a message that its owner refused because it was stored too late', { skip: withoutPostgres }, () => {
  for (const [name, isConnected] of [
    ['claimed at once', true],
    ['waiting for the connection', false],
  ] as const) {
    test(`${name}: the stand-in accepts it, and the owner sends it instead of withdrawing it`, async () => {
      await using stage = await StandInBed.open()
      const { bed } = stage
      if (!isConnected) bed.disconnect()
      const yields = await refusedTooLate(stage)
      const answer = await stage.post(bed.callback(7, 'too slow'), { mayBeStored: true })
      const { id } = await rowOf(bed, 7)
      assert.deepEqual(answer, { status: 200, body: { status: 'ignored', reason: 'duplicate', queue_id: id } })
      assert.deepEqual([stage.told, bed.texts()], [['n0'], []])
      await yields()
      bed.connect()
      await bed.received('too slow')
      await bed.pass(60_000)
      assert.deepEqual(bed.texts(), ['too slow'])
      assert.deepEqual(await stage.rows(), [{ message: 7, status: 'sent' }])
    })
  }

  test('the stand-in accepts it anew when the owner has withdrawn it', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    const yields = await refusedTooLate(stage)
    await yields()
    await bed.until('it is withdrawn', async () => (await rowOf(bed, 7)).status === 'refused')
    assert.equal((await stage.post(bed.callback(7, 'too slow'), { mayBeStored: true })).status, 202)
    await stage.hear()
    await bed.received('too slow')
    assert.deepEqual(bed.texts(), ['too slow'])
  })
})

// The owner stores a message too late and refuses it. The stand-in finds the row, and what it answers is true.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { withoutPostgres } from '../../harness/databases.ts'
import { Bystander } from '../../harness/postgres-bystander.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { revoked, rowOf } from './harness/views.ts'
import { StandInBed } from './harness/stand-in-bed.ts'

/** The owner has refused message 7, has stored it, and cannot withdraw it until the returned function is called. */
async function refusedTooLate(stage: StandInBed, text = 'too slow'): Promise<() => Promise<unknown>> {
  const { bed } = stage
  // The service knows the chat from now on, so it claims a message in the commit that stores it.
  await bed.post(bed.callback(6, 'before'))
  const change = (sql: string) => bed.database.write({ sql, parameters: [] })
  await change(`CREATE FUNCTION keep() RETURNS trigger AS 'BEGIN RAISE ''no''; END' LANGUAGE plpgsql`)
  await change(`CREATE TRIGGER keeps BEFORE UPDATE ON outbox FOR EACH ROW WHEN (NEW.status = 'refused')
                EXECUTE FUNCTION keep()`)
  await using bystander = await Bystander.connect(bed.location)
  await bystander.lock('outbox')
  let status = 0
  void bed.post(bed.callback(7, text)).then((answer) => (status = answer.status))
  await waitUntil('the owner answers', async () => {
    await bed.clock.advance(100)
    return status > 0
  })
  assert.equal(status, 500)
  await bystander.unlock()
  await bed.until('it is stored', async () => (await stage.rows()).length === 2)
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
      const { id, status } = await rowOf(bed, 7)
      assert.equal(status, isConnected ? 'sending' : 'pending')
      assert.deepEqual(answer, { status: 200, body: { status: 'ignored', reason: 'duplicate', queue_id: id } })
      assert.deepEqual([stage.told, bed.texts().slice(1)], [['n0'], []])
      await yields()
      bed.connect()
      await bed.received('too slow')
      await bed.pass(60_000)
      assert.deepEqual(bed.texts(), ['before', 'too slow'])
      assert.equal((await rowOf(bed, 7)).status, 'sent')
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
    assert.deepEqual(bed.texts(), ['before', 'too slow'])
  })

  test('the spamguard of the stand-in does not take the message for a repeat of itself', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    bed.change('n0', { isSpamguardEnabled: true })
    const yields = await refusedTooLate(stage, 'an offer for you')
    const answer = await stage.post(bed.callback(7, 'an offer for you'), { mayBeStored: true })
    assert.equal((answer.body as { reason: string }).reason, 'duplicate')
    await yields()
    await bed.received('an offer for you')
  })

  test('the spamguard of the owner lets the callback come again', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    bed.change('n0', { isSpamguardEnabled: true })
    const yields = await refusedTooLate(stage, 'an offer for you')
    await yields()
    const answer = await bed.post(bed.callback(7, 'an offer for you'))
    assert.deepEqual([answer.status, (answer.body as { status: string }).status], [200, 'sent'])
    assert.deepEqual(bed.texts(), ['before', 'an offer for you'])
  })

  test('the next message of the chat does not overtake it', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    bed.process.view.hasPeers = true
    const yields = await refusedTooLate(stage)
    assert.equal((await stage.post(bed.callback(7, 'too slow'), { mayBeStored: true })).status, 200)
    await yields()
    await bed.post(bed.callback(8, 'the next'))
    await bed.received('the next')
    assert.deepEqual(bed.texts(), ['before', 'too slow', 'the next'])
  })

  test('the agent deletes it after the stand-in has accepted it: it does not stay on the phone', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    const yields = await refusedTooLate(stage)
    assert.equal((await stage.post(bed.callback(7, 'too slow'), { mayBeStored: true })).status, 200)
    await yields()
    await bed.post({ ...bed.callback(7, ''), event: 'message_updated', content_attributes: { deleted: true } })
    await bed.pass(60_000)
    assert.equal(revoked(bed).length, 1)
    assert.notEqual(bed.texts().at(-1), 'too slow', 'the message comes before what takes it back')
  })

  test('a stand-in that is late itself leaves it as it is', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    const yields = await refusedTooLate(stage)
    const answer = await stage.post(bed.callback(7, 'too slow'), { mayBeStored: true, waitedMs: 60_000 })
    assert.equal(answer.status, 500)
    await yields()
    await bed.until('it is withdrawn', async () => (await rowOf(bed, 7)).status === 'refused')
    assert.deepEqual(bed.texts(), ['before'])
  })
})

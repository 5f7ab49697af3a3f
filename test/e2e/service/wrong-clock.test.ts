// The clock of the machine was an hour ahead and is put right, while the service runs or before it starts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../src/lib/clock.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import type { Database } from '../../../src/storage/database.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { Service } from '../../harness/service.ts'

const hour = 3_600_000
const minute = 60_000
const key = 'https://desk|1|1'

/** A time that the service stored while the clock was ahead. */
async function storeAhead(database: Database): Promise<void> {
  const row = { destination: key, heard_at: Date.now() + hour }
  await database.write(database.query.insertInto('first_callbacks').values(row))
}

async function createdAhead(database: Database): Promise<void> {
  await database.write(database.query.updateTable('instances').set({ created_at: Date.now() + hour }))
}

async function isCorrected({ database }: Service): Promise<boolean> {
  const [row] = await database.read(database.query.selectFrom('first_callbacks').select('heard_at'))
  return row !== undefined && row.heard_at <= Date.now()
}

test('stored times in the future are corrected at the start', async () => {
  await using service = await Service.start({ seed: storeAhead })
  assert.ok(await isCorrected(service))
})

/** A clock that is an hour ahead until it is put right. `passedMs` counts for what is measured, not for the time of day. */
function clockAhead() {
  const state = { aheadMs: hour, passedMs: 0 }
  const clock: Clock = {
    ...systemClock,
    now: () => Date.now() + state.aheadMs,
    monotonic: () => systemClock.monotonic() + state.passedMs,
  }
  return { state, clock }
}

test('stored times in the future are corrected when the clock was put back a minute ago', async () => {
  const { state, clock } = clockAhead()
  await using service = await Service.start({ clock })
  await storeAhead(service.database)
  const check = service.app.workers.get('clock-check')
  await check?.tick()
  state.aheadMs = 0
  await check?.tick()
  assert.equal(await isCorrected(service), false)
  state.passedMs += minute
  await check?.tick()
  assert.ok(await isCorrected(service))
  assert.equal(service.logs.withMessage('the clock was put back, stored times in the future are corrected').length, 1)
})

test('Retry sends a message of an instance that was created while the clock was ahead', async () => {
  const { state, clock } = clockAhead()
  await using world = await AgentWorld.open({ clock, seed: createdAhead })
  const check = world.service.app.workers.get('clock-check')
  await check?.tick()
  state.aheadMs = 0
  await check?.tick()
  state.passedMs += minute
  await check?.tick()
  world.network.fault({ kind: 'ack_error', code: 404 })
  const id = await world.write('after the clock was put right')
  await world.shown(id, ({ status }) => status === 'failed')
  await world.agent.post(`/conversations/${world.conversation}/messages/${id}/retry`)
  await world.received('after the clock was put right')
})

test('messages keep their order when the clock is put back before a restart', async () => {
  // Longer than the restart takes, and too short for callbacks to look old.
  let ahead = 40_000
  const clock = { ...systemClock, now: () => Date.now() + ahead }
  await using world = await AgentWorld.open({ clock })
  const texts = ['while the clock is ahead', 'after the restart']
  const written: number[] = []
  for (const text of texts) {
    written.push(await world.write(text))
    await world.received(text)
    ahead = 0
    await world.restart()
  }
  const { database } = world.service
  for (const table of ['outbox', 'message_map'] as const) {
    const rows = await database.read(database.query.selectFrom(table).select('message_id').orderBy('id'))
    assert.deepEqual(
      rows.map((row) => row.message_id),
      written,
      table,
    )
  }
})

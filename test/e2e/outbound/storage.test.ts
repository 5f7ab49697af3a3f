// The database in trouble while a message is accepted: answered in time, nothing sent after a refusal, a repeat is sent.

import { AgentWorld } from '../../harness/agent-world.ts'
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import type { SeenMessage } from '../../../sim/helpdesk/snapshots.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { openCut } from '../../harness/cut-world.ts'
import { tenantSettings } from '../../harness/destination.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import type { Answer } from '../../harness/http-request.ts'
import { Bystander } from '../../harness/postgres-bystander.ts'
import { waitUntil } from '../../harness/wait-until.ts'

/** The agent writes while nothing can be stored; the message is refused within 4 s. */
async function writeWhileStuck(world: AgentWorld, clock: ManualClock, text: string): Promise<number> {
  const timers = clock.pending
  const id = await world.write(text)
  await waitUntil('the answer waits for its deadline', () => clock.pending > timers)
  await clock.advance(4000)
  const { status } = await world.helpdesk.waitForDelivery(
    'the answer',
    ({ event, body }) => event === 'message_created' && 'id' in body && body.id === id,
  )
  assert.equal(status, 500)
  return id
}

/** A message at the helpdesk, once it matches; time passes until then. */
async function shownInTime(
  world: AgentWorld,
  id: number,
  matches: (message: SeenMessage) => boolean,
): Promise<SeenMessage> {
  const find = () => world.helpdesk.messages().find((each) => each.id === id && matches(each))
  await waitUntil(`message ${id} is shown as awaited`, async () => {
    await world.passTime(500)
    return find() !== undefined
  })
  return find() as SeenMessage
}

/** Nothing was sent although the database took the message in the end; the callback may come again, and is sent then. */
async function assertTakenBack(world: AgentWorld, id: number, text: string): Promise<void> {
  const shown = await shownInTime(world, id, ({ contentAttributes: { external_error: error } }) =>
    /could not store the message in time/.test(String(error)),
  )
  assert.equal(shown.status, 'failed')
  assert.equal((await world.post(world.callback(9000, 'another'))).status, 200)
  assert.deepEqual(world.texts(), ['another'])
  const { pending, failed, sent } = await world.outbox()
  assert.deepEqual([pending, failed, sent], [0, 0, 1])
  const again = await world.post(world.callback(id, text))
  assert.deepEqual([again.status, (again.body as { status: string }).status], [200, 'sent'])
  assert.deepEqual(world.texts(), ['another', text])
  await shownInTime(world, id, ({ status }) => status === 'sent')
}

// Most of the time of each passes until an answer is due, or until what is stored is looked through.
const together = { concurrency: 3 }

describe('SQLite stuck for longer than the answer may take', together, () => {
  test('refused within 4 s, taken back, sent when it is repeated', async () => {
    const clock = new ManualClock(Date.now())
    await using world = await AgentWorld.open({ clock })
    using lock = locked(world.service.databasePath)
    const id = await writeWhileStuck(world, clock, 'too slow')
    lock.release()
    await assertTakenBack(world, id, 'too slow')
  })
})

describe('PostgreSQL stuck for longer than the answer may take', together, () => {
  test('tenants, so that not even the secret is known: the same', async () => {
    const clock = new ManualClock(Date.now())
    await using world = await AgentWorld.open({ engine: 'postgres', clock })
    const { helpdesk } = world
    const tenant = { ...tenantSettings(helpdesk), webhook_hmac_secret: helpdesk.facts.webhook_secret }
    await world.service.request('PATCH', '/api/instances/n0', { body: { owner_tag: 'acme' } })
    await using bystander = await Bystander.connect({ engine: 'postgres', url: world.service.databasePath })
    assert.equal((await world.service.request('PUT', '/api/tenants/acme', { body: tenant })).status, 200)
    await bystander.lock('tenants')
    const id = await writeWhileStuck(world, clock, 'too slow')
    await bystander.unlock()
    await assertTakenBack(world, id, 'too slow')
  })
})

describe('a database that fails', together, () => {
  test('a commit without an answer is found: the message is sent once, and its callback is not followed again', async () => {
    await using stage = await openCut()
    const { world, cutter } = stage
    cutter.cutAfter = 'insert into "outbox"'
    assert.deepEqual(outcomeOf(await world.post(world.callback(1, 'unheard'))), [200, 'sent'])
    assert.equal(cutter.cuts, 1)
    assert.deepEqual(outcomeOf(await world.post(world.callback(1, 'unheard'))), [200, 'ignored'])
    await world.restart()
    assert.equal((await world.post(world.callback(2, 'the end'))).status, 200)
    assert.deepEqual(world.texts(), ['unheard', 'the end'])
  })

  test('a commit without an answer is taken back if its callback names no message', async () => {
    await using stage = await openCut()
    const { world, cutter } = stage
    cutter.cutAfter = 'insert into "outbox"'
    assertRefused(await world.post(world.callback(0, 'unheard', { id: null })), 'SERVICE_STORAGE_FAILED')
    assert.equal(cutter.cuts, 1)
    await waitUntil('nothing is left of it', async () => (await world.outbox())['pending'] === 0)
    await world.restart()
    assert.equal((await world.post(world.callback(2, 'the end'))).status, 200)
    assert.deepEqual(world.texts(), ['the end'])
  })
})

function outcomeOf({ status, body }: Answer): [number, string] {
  return [status, (body as { status: string }).status]
}

/** Holds the one place where SQLite can be written. */
function locked(path: string): { release(): void; [Symbol.dispose](): void } {
  const lock = new DatabaseSync(path, { timeout: 5000 })
  lock.exec('BEGIN IMMEDIATE')
  const release = () => {
    if (lock.isTransaction) lock.exec('ROLLBACK')
  }
  return {
    release,
    [Symbol.dispose]() {
      release()
      lock.close()
    },
  }
}

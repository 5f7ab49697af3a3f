// The database in trouble while a message is accepted: answered in time, nothing sent after a refusal, a repeat is sent.

import { OutboundStage } from '../../harness/outbound-stage.ts'
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { CommitCutter } from '../../harness/commit-cutter.ts'
import { Bystander } from '../../harness/postgres-bystander.ts'
import { waitUntil } from '../../harness/wait-until.ts'

/** The answer to an agent's message while nothing can be stored, and how long it took. */
async function writeWhileStuck(stage: OutboundStage, text: string): Promise<{ id: number; ms: number }> {
  const started = performance.now()
  const id = await stage.write(text)
  const { status } = await stage.helpdesk.waitForDelivery(
    'the answer',
    ({ event, body }) => event === 'message_created' && 'id' in body && body.id === id,
    20_000,
  )
  assert.equal(status, 500)
  return { id, ms: performance.now() - started }
}

/** Nothing was sent although the database took the message in the end; the callback may come again, and is sent then. */
async function assertTakenBack(stage: OutboundStage, id: number, text: string): Promise<void> {
  const shown = await stage.shown(id, ({ contentAttributes: { external_error: error } }) =>
    /could not store the message in time/.test(String(error)),
  )
  assert.equal(shown.status, 'failed')
  assert.equal((await stage.post(stage.callback(9000, 'another'))).status, 200)
  assert.deepEqual(stage.texts(), ['another'])
  const { pending, failed, sent } = await stage.outbox()
  assert.deepEqual([pending, failed, sent], [0, 0, 1])
  const again = await stage.post(stage.callback(id, text))
  assert.deepEqual([again.status, (again.body as { status: string }).status], [200, 'sent'])
  assert.deepEqual(stage.texts(), ['another', text])
  await stage.shown(id, ({ status }) => status === 'sent')
}

// Most of the time of each passes until an answer is due, or until what is stored is looked through.
const together = { concurrency: 3 }

describe('SQLite stuck for longer than the answer may take', together, () => {
  test('refused within 4 s, taken back, sent when it is repeated', async () => {
    await using stage = await OutboundStage.open()
    using lock = locked(stage.service.databasePath)
    const { id, ms } = await writeWhileStuck(stage, 'too slow')
    lock.release()
    assert.ok(ms < 4500, `answered after ${ms} ms`)
    await assertTakenBack(stage, id, 'too slow')
  })
})

describe('PostgreSQL stuck for longer than the answer may take', together, () => {
  test('tenants, so that not even the secret is known: the same', async () => {
    await using stage = await OutboundStage.open({ engine: 'postgres' })
    const { url, api_token, account_id, inbox_id, webhook_secret } = stage.helpdesk.facts
    const tenant = {
      downstream_base_url: url,
      downstream_api_token: api_token,
      downstream_account_id: account_id,
      downstream_inbox_id: inbox_id,
      webhook_hmac_secret: webhook_secret,
    }
    await stage.service.request('PATCH', '/api/instances/n0', { body: { owner_tag: 'acme' } })
    await using bystander = await Bystander.connect({ engine: 'postgres', url: stage.service.databasePath })
    assert.equal((await stage.service.request('PUT', '/api/tenants/acme', { body: tenant })).status, 200)
    await bystander.lock('tenants')
    const { id, ms } = await writeWhileStuck(stage, 'too slow')
    await bystander.unlock()
    assert.ok(ms < 4500, `answered after ${ms} ms`)
    await assertTakenBack(stage, id, 'too slow')
  })
})

describe('a database that fails', together, () => {
  test('a commit that nobody hears of is taken back: what was refused is not sent, and may come again', async () => {
    await using stack = new AsyncDisposableStack()
    const stage = await OutboundStage.open({ engine: 'postgres' })
    const cutter = stack.use(await CommitCutter.to(stage.service.databasePath))
    stack.use(stage)
    await stage.restart({ DATABASE_URL: cutter.url })
    cutter.cutAfter = 'insert into "outbox"'
    assertRefused(await stage.post(stage.callback(1, 'unheard')), 'SERVICE_STORAGE_FAILED')
    assert.equal(cutter.cuts, 1)
    await waitUntil('nothing is left of it', async () => (await stage.outbox())['pending'] === 0)
    assert.equal((await stage.post(stage.callback(1, 'unheard'))).status, 200)
    await stage.restart()
    assert.equal((await stage.post(stage.callback(2, 'the end'))).status, 200)
    assert.deepEqual(stage.texts(), ['unheard', 'the end'])
  })
})

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

// The database in trouble while a message is accepted: answered in time, nothing sent after a refusal, a repeat is sent.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { withoutPostgres } from '../../harness/databases.ts'
import { Bystander } from '../../harness/postgres-bystander.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { attach, textFile } from './harness/attach-files.ts'
import { OutboundBed } from './harness/outbound-bed.ts'
import { rowOf, shownTo } from './harness/views.ts'

/** An agent's message while nothing can be stored is refused, within 4 s. */
async function writeWhileStuck(bed: OutboundBed, text: string): Promise<number> {
  const { id, answered } = bed.desk.write(text, {}, bed.conversation)
  let status = 0
  void answered.then((answer) => (status = answer.status))
  const startedAt = bed.clock.monotonic()
  await waitUntil('it is answered', async () => {
    await bed.clock.advance(100)
    return status > 0
  })
  assert.equal(status, 500)
  const ms = bed.clock.monotonic() - startedAt
  assert.ok(ms <= 4000, `answered after ${ms} ms`)
  return id
}

/** Nothing was sent although the database took the message in the end; the callback may come again, and is sent then. */
async function assertTakenBack(bed: OutboundBed, id: number, text: string): Promise<void> {
  const shown = await bed.shown(id, ({ contentAttributes: { external_error: error } }) =>
    /could not store the message in time/.test(String(error)),
  )
  assert.equal(shown.status, 'failed')
  assert.equal((await bed.post(bed.callback(9000, 'another'))).status, 200)
  assert.deepEqual(bed.texts(), ['another'])
  const { pending, failed, sent } = await bed.outbox()
  assert.deepEqual([pending, failed, sent], [0, 0, 1])
  const again = await bed.post(bed.callback(id, text))
  assert.deepEqual([again.status, (again.body as { status: string }).status], [200, 'sent'])
  assert.deepEqual(bed.texts(), ['another', text])
  await bed.shown(id, ({ status }) => status === 'sent')
}

describe('SQLite stuck for longer than the answer may take', () => {
  /** The database has stored a refused message and does not let it be taken back, until the returned function is called. */
  async function keepRefused(bed: OutboundBed): Promise<{ id: number; yields: () => Promise<unknown> }> {
    const change = (sql: string) => bed.database.write({ sql, parameters: [] })
    await change(`CREATE TRIGGER keeps BEFORE UPDATE OF status ON outbox WHEN NEW.status = 'refused'
                  BEGIN SELECT RAISE(ABORT, 'no'); END`)
    assert.equal(bed.location.engine, 'sqlite')
    using lock = locked(bed.location.path)
    const id = await writeWhileStuck(bed, 'too slow')
    lock.release()
    await bed.until('it is stored', async () => (await bed.outbox()).pending === 1)
    return { id, yields: () => change('DROP TRIGGER keeps') }
  }

  test('a refused message is not sent while it cannot be taken back', async () => {
    await using bed = await OutboundBed.open()
    const { id, yields } = await keepRefused(bed)
    // What is stored is looked through every 5 s.
    await bed.pass(11_000)
    assert.deepEqual(bed.texts(), [])
    await yields()
    await assertTakenBack(bed, id, 'too slow')
  })

  test('a process that ends takes a refused message back, so that the next process does not send it', async () => {
    await using bed = await OutboundBed.open()
    const { id, yields } = await keepRefused(bed)
    await yields()
    await bed.restart()
    await assertTakenBack(bed, id, 'too slow')
  })
})

describe('PostgreSQL stuck for longer than the answer may take', { skip: withoutPostgres }, () => {
  for (const table of ['outbox', 'settled_callbacks']) {
    test(`${table}: refused within 4 s, taken back, sent when it is repeated`, async () => {
      await using bed = await OutboundBed.open({ engine: 'postgres' })
      await using bystander = await Bystander.connect(bed.location)
      await bystander.lock(table)
      const id = await writeWhileStuck(bed, 'too slow')
      await bystander.unlock()
      await assertTakenBack(bed, id, 'too slow')
    })
  }
})

test('a database that refuses is our failure: the callback stays open and is sent when it comes again', async () => {
  await using bed = await OutboundBed.open()
  const change = (sql: string) => bed.database.write({ sql, parameters: [] })
  await change(`CREATE TRIGGER refuses BEFORE INSERT ON outbox BEGIN SELECT RAISE(ABORT, 'no'); END`)
  assertRefused(await bed.post(bed.callback(1, 'first')), 'SERVICE_STORAGE_FAILED')
  assertRefused(await bed.post(bed.callback(0, 'without an id')), 'SERVICE_STORAGE_FAILED')
  await change('DROP TRIGGER refuses')
  await change('ALTER TABLE settled_callbacks RENAME TO callbacks_away')
  assertRefused(await bed.post(bed.callback(1, 'first')), 'SERVICE_STORAGE_FAILED')
  await change('ALTER TABLE callbacks_away RENAME TO settled_callbacks')
  const answers = [await bed.post(bed.callback(1, 'first')), await bed.post(bed.callback(1, 'first'))]
  assert.deepEqual(
    answers.map(({ body }) => (body as { status: string }).status),
    ['sent', 'ignored'],
  )
  assert.deepEqual(bed.texts(), ['first'])
})

test('the reason of a message whose acknowledgement cannot be stored does not say that it was not sent', async () => {
  await using bed = await OutboundBed.open()
  const sql = `CREATE TRIGGER refuses BEFORE INSERT ON message_map WHEN NEW.direction = 'out' BEGIN SELECT RAISE(ABORT, 'no'); END`
  await bed.database.write({ sql, parameters: [] })
  void bed.post(bed.callback(1, 'x'))
  await bed.until('it waits for another attempt', async () => ((await rowOf(bed, 1)).reason ?? '') !== '', {
    stepMs: 0,
  })
  assert.deepEqual(bed.texts(), ['x'])
  assert.match((await rowOf(bed, 1)).reason ?? '', /could not be confirmed/)
})

test('the reason of a message that cannot be claimed says that it was not sent', async () => {
  await using bed = await OutboundBed.open()
  bed.disconnect()
  const answer = bed.post(bed.callback(1, 'x'))
  await bed.until('it is stored', async () => (await bed.outbox()).pending === 1)
  const change = (sql: string) => bed.database.write({ sql, parameters: [] })
  await change(`CREATE TRIGGER refuses BEFORE UPDATE OF status ON outbox WHEN NEW.status = 'sending'
                BEGIN SELECT RAISE(ABORT, 'no'); END`)
  bed.connect()
  const reason = async () => (await rowOf(bed, 1)).reason ?? ''
  await bed.until('an attempt has failed', async () => /sent:|confirmed/.test(await reason()))
  assert.match(await reason(), /^the message was not sent: /)
  await change('DROP TRIGGER refuses')
  await bed.received('x')
  await answer
})

for (const { name, table } of [
  { name: 'a message of one part', table: 'message_map' },
  { name: 'the first of two parts', table: 'outbox' },
]) {
  test(`${name}: an acknowledgement that cannot be stored leaves the part in doubt, and the part is repeated`, async () => {
    await using bed = await OutboundBed.open()
    const change = (sql: string) => bed.database.write({ sql, parameters: [] })
    const refuses = {
      message_map: `BEFORE INSERT ON message_map WHEN NEW.direction = 'out'`,
      outbox: `BEFORE UPDATE OF parts ON outbox WHEN NEW.status = 'sending' AND NEW.parts LIKE '%"sent"%'`,
    }[table]
    bed.network.afterFrame = async () => {
      bed.network.afterFrame = () => undefined
      await change(`CREATE TRIGGER refuses ${refuses ?? ''} BEGIN SELECT RAISE(ABORT, 'no'); END`)
    }
    const isOne = table === 'message_map'
    const id = isOne ? await bed.write('once') : await attach(bed, '', [textFile('a.txt'), textFile('b.txt')])
    await bed.until('the attempt is over', async () => (await rowOf(bed, id)).status === 'pending', { stepMs: 0 })
    assert.deepEqual((await rowOf(bed, id)).states, isOne ? ['unknown'] : ['unknown', 'new'])
    await change('DROP TRIGGER refuses')
    await bed.until('the message is sent', async () => (await rowOf(bed, id)).status === 'sent')
    assert.deepEqual(shownTo(bed), isOne ? ['once'] : ['a.txt', 'b.txt'])
    assert.equal(bed.network.duplicates, 1)
    const mapped = await bed.database.read(bed.database.query.selectFrom('message_map').select('network_id'))
    assert.equal(mapped.length, shownTo(bed).length)
  })
}

describe('a database that fails', { skip: withoutPostgres }, () => {
  test('a stored message is answered as queued, also when its row can no longer be read', async () => {
    const trouble = { begins: () => Promise.resolve() }
    const onSendStep = () => trouble.begins()
    await using bed = await OutboundBed.open({ engine: 'postgres', onSendStep })
    await using bystander = await Bystander.connect(bed.location)
    bed.disconnect()
    trouble.begins = () => bystander.lock('outbox')
    const answer = bed.post(bed.callback(1, 'stored'))
    await bystander.blocked(1)
    await bed.clock.advance(4000)
    const { status, body } = await answer
    assert.deepEqual([status, (body as { status: string }).status], [202, 'queued'])
    assert.ok((body as { expires_at: unknown }).expires_at)
    trouble.begins = () => Promise.resolve()
    await bystander.unlock()
    bed.connect()
    await bed.received('stored')
  })

  test('a message is stored over another connection when the first one dies', async () => {
    await using bed = await OutboundBed.open({ engine: 'postgres' })
    await using bystander = await Bystander.connect(bed.location)
    await bystander.lock('outbox')
    const answer = bed.post(bed.callback(1, 'cut off'))
    const [pid] = await bystander.blocked(1)
    await bystander.query(`SELECT pg_terminate_backend(${String(pid)})`)
    await bystander.unlock()
    assert.equal((await answer).status, 200)
    assert.equal((await bed.post(bed.callback(1, 'cut off'))).status, 200)
    assert.deepEqual(bed.texts(), ['cut off'])
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

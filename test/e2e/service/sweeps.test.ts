// Old rows go soon after each start: a process that is restarted every night never reaches an interval of a day.

import { describe, test } from 'node:test'
import type { Database } from '../../../src/storage/database.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { sampleInstanceColumns, sampleOutboxRow } from '../../harness/samples.ts'
import { Service } from '../../harness/service.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { toColumns } from '../../../src/storage/stores/messages/outbox-rows.ts'

const now = Date.parse('2026-06-01T00:00:00Z')
const longAgo = now - 400 * 86_400_000
const tables = ['opened', 'outbox', 'settled_callbacks', 'request_keys', 'deliveries', 'message_map', 'jobs'] as const

function place(name: string) {
  return { destination: 'https://desk|1|7', instance: 'shop', chat: 'chat', network_id: name, network_key: '{}' }
}

/** One row of each table that is too old, and one that is not. */
async function seed(database: Database): Promise<void> {
  const { query } = database
  await database.write(query.insertInto('instances').values(sampleInstanceColumns('shop')))
  const plain = { seal: Buffer.from('{}'), place: '' }
  for (const [n, at] of [longAgo, now].entries()) {
    const name = `row-${n}`
    await database.write(
      query.insertInto('opened').values({ session_id: 's', envelope: name, opened_at: at }),
      query
        .insertInto('outbox')
        .values({ ...toColumns(sampleOutboxRow(name)), status: 'sent', payload: null, settled_at: at }),
      query
        .insertInto('settled_callbacks')
        .values({ destination: 'd', kind: 'message_created', event_id: n, outbox_id: name, settled_at: at }),
      query
        .insertInto('request_keys')
        .values({ instance: 'shop', request_key: name, fingerprint: '', outbox_id: name, settled_at: at }),
      query.insertInto('deliveries').values({
        id: name,
        event_id: name,
        event: 'paired',
        instance: 'shop',
        url: 'https://one.example',
        body: plain,
        created_at: at,
        status: 'delivered',
        attempts: 1,
        next_at: at,
        finished_at: at,
      }),
      query.insertInto('jobs').values({
        ...{ id: name, type: 'history_all', instance: 'shop', status: 'completed', params: '{}' },
        ...{ created_at: at, started_at: at, ended_at: at, error: null, progress: null, result: null },
      }),
      query.insertInto('message_map').values({
        ...place(name),
        id: name,
        sender: 'me',
        kind: 'message',
        direction: 'out',
        network_at: at,
        claimed_at: at,
      }),
    )
  }
}

for (const engine of drawnEngines(import.meta.url)) {
  describe(`rows that are too old on ${engine}`, () => {
    test('go within two minutes of a start', async () => {
      const clock = new ManualClock(now)
      await using service = await Service.start({ engine, clock, seed })
      const { database } = service
      let seen: number[] = []
      const counts = async () =>
        (seen = await Promise.all(
          tables.map(async (table) => (await database.read(database.query.selectFrom(table).selectAll())).length),
        ))
      await clock.advance(120_000)
      await waitUntil('one row of each table is left', async () => (await counts()).every((count) => count === 1), {
        instead: () => seen,
      })
    })
  })
}

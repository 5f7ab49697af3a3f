// A deleted instance leaves messages in the outbox on PostgreSQL. They fail, and a new instance with the same name does not send them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Insertable } from 'kysely'
import type { OutboxTable } from '../../../src/storage/schema/messages.ts'
import { sealed } from '../../../src/storage/stores/messages/outbox-rows.ts'
import { withoutPostgres } from '../../harness/databases.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { Service } from '../../harness/service.ts'

function waitingRow(id: string): Insertable<OutboxTable> {
  const payload = { type: 'message' as const, content: 'hello', attachments: [], inReplyTo: null, agentName: null }
  return {
    ...{ id, kind: 'message', instance: 'shop', owner_tag: '', inbox_id: 9, destination: 'd', chat: 'c' },
    ...{ remote_jid: '5511999990009@s.whatsapp.net', conversation_id: 1, message_id: null, status: 'pending' },
    ...{ waiting: 1, drained: 0, expires_at: null, ...sealed(id, payload) },
    ...{ fingerprint: null, reason: null, look_at: null, created_at: 1000, settled_at: null },
  }
}

/** Its background work rests: only requests change something. */
async function startQuiet(): Promise<Service> {
  const service = await Service.start({
    engine: 'postgres',
    seed: async (database) => {
      await database.write(database.query.insertInto('instances').values(sampleInstanceColumns('shop')))
    },
  })
  for (const worker of service.app.workers.values()) await worker[Symbol.asyncDispose]()
  return service
}

async function statusOf({ database }: Service, id: string): Promise<string | undefined> {
  const [row] = await database.read(database.query.selectFrom('outbox').select('status').where('id', '=', id))
  return row?.status
}

test('its waiting messages have failed when the deletion is answered', { skip: withoutPostgres }, async () => {
  await using service = await startQuiet()
  await service.database.write(service.database.query.insertInto('outbox').values(waitingRow('r1')))
  assert.equal((await service.request('DELETE', '/api/instances/shop')).status, 200)
  assert.equal(await statusOf(service, 'r1'), 'failed')
})

test(
  'a message that was stored during the deletion fails before the name is used again',
  { skip: withoutPostgres },
  async () => {
    await using service = await startQuiet()
    assert.equal((await service.request('DELETE', '/api/instances/shop')).status, 200)
    await service.database.write(service.database.query.insertInto('outbox').values(waitingRow('r2')))
    assert.equal((await service.request('POST', '/api/instances', { body: { name: 'shop' } })).status, 201)
    assert.equal(await statusOf(service, 'r2'), 'failed')
  },
)

// An instance that is deleted over HTTP takes its kept history with it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeptHistory } from '../../../src/history/kept/kept-history.ts'
import { message } from '../../bridge/inbound/harness/bridge-bed.ts'
import { Service } from '../../harness/service.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'

const bob = '5511888880001@s.whatsapp.net'
const person = { kind: 'person' as const, phone: '5511888880001', lid: null }

function chatWith(...ids: string[]) {
  const events = ids.map((id, position) => ({ event: message(id, { id, at: Date.now() }), position }))
  return { jid: bob, chat: person, events, leftOut: 0, oldest: null }
}

test('the history of a deleted instance is removed and counted, and nothing more of it is stored', async () => {
  await using service = await Service.start({
    environment: { SERVICE_HISTORY_IMPORT_ENABLED: 'true' },
    seed: async (database) => {
      const { query } = database
      await database.write(query.insertInto('instances').values(sampleInstanceColumns('shop')))
    },
  })
  const { database, app } = service
  const kept = app.perInstance.find((part) => part instanceof KeptHistory) ?? assert.fail('nothing keeps the history')
  const tables = ['history_messages', 'history_chats'] as const
  const stored = async () => {
    const rows = await Promise.all(
      tables.map((table) => database.read(database.query.selectFrom(table).select('instance'))),
    )
    return rows.map(({ length }) => length)
  }
  await kept.onPastEvents('shop', 'pairing', [chatWith('a', 'b', 'c')])
  assert.deepEqual(await stored(), [3, 1])
  assert.equal((await service.request('DELETE', '/api/instances/shop')).status, 200)
  assert.deepEqual(await stored(), [0, 0])
  await assert.rejects(kept.onPastEvents('shop', 'pairing', [chatWith('d')]), /not served/)
  const { body } = await service.get('/api/audit?limit=1')
  const [entry] = (body as { entries: { action: string; metadata: Record<string, unknown> }[] }).entries
  assert.deepEqual(
    [entry?.action, entry?.metadata['undelivered'], entry?.metadata['not_imported']],
    ['instance.delete', 0, 3],
  )
})

test('what a process that ended in the middle of a deletion has left is removed by the sweep', async () => {
  await using service = await Service.start({
    seed: async (database) => {
      const { query } = database
      const row = { instance: 'gone', chat_jid: bob }
      const facts = { id: 'r', network_id: 'w', participant: '', kind: 'message', sent_at: Date.now(), position: 0 }
      await database.write(
        query.insertInto('history_chats').values({ ...row, anchor: null, anchor_at: null }),
        query.insertInto('history_messages').values({ ...row, ...facts, event: null }),
      )
    },
  })
  const { database, app } = service
  await app.workers.get('history-prune')?.tick()
  assert.deepEqual(await database.read(database.query.selectFrom('history_chats').selectAll()), [])
  assert.deepEqual(await database.read(database.query.selectFrom('history_messages').select('id')), [])
})

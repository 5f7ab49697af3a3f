// An instance is deleted while a message arrives for it: nothing is left for a new instance of the same name.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { World } from '../../harness/world.ts'
import { waitUntil } from '../../harness/wait-until.ts'

async function numberOf(client: pg.Client, sql: string): Promise<number> {
  const { rows } = await client.query<{ count: string }>(`SELECT count(*) AS count FROM ${sql}`)
  return Number(rows[0]?.count)
}

test('a message that is being stored while its instance is deleted is deleted too', async () => {
  await using world = await World.open({ engine: 'postgres' })
  const [{ name }] = (await world.service.get('/api/instances')).body as [{ name: string }]
  const maria = world.network.person({ phone: '5511988887777' })
  await world.arrived(maria.text(world.phone, 'before'))
  await world.drained()
  const client = new pg.Client({ connectionString: world.place.url })
  await client.connect()
  try {
    const known = await numberOf(client, 'opened')
    await client.query('BEGIN')
    await client.query('LOCK TABLE opened IN SHARE MODE')
    maria.text(world.phone, 'meanwhile')
    const isWaiting = () => numberOf(client, 'pg_locks WHERE NOT granted').then((count) => count > 0)
    await waitUntil('the message is being stored', isWaiting)
    const deleted = world.service.request('DELETE', `/api/instances/${name}`)
    // Time enough for a deletion that does not wait.
    for (let turn = 0; turn < 200; turn++) await client.query('SELECT 1')
    await client.query('COMMIT')
    assert.equal((await deleted).status, 200)
    await waitUntil('the message is stored', async () => (await numberOf(client, 'opened')) > known)
    assert.equal(await numberOf(client, 'inbox'), 0)
  } finally {
    await client.end()
  }
})

// What the phone sends when the account is linked is kept, and its import is announced if the instance asks for it.

import '../../sim/harness/quiet.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HistoryStore } from '../../../src/storage/stores/history/history-store.ts'
import { World } from '../../harness/world.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const owner = '5511999990001'
const environment = {
  SERVICE_HISTORY_IMPORT_ENABLED: 'true',
  SERVICE_ENCRYPTION_KEY: Buffer.alloc(32, 5).toString('base64'),
}

/** The phone keeps a message of each of these numbers of days ago. Returns their ids. */
function remember(world: World, ...daysAgo: number[]): string[] {
  const phone = world.network.account({ phone: owner })
  const bob = world.network.person({ phone: '5511888880001', pushName: 'Bob' })
  const now = Math.floor(Date.now() / 1000)
  return daysAgo.map((ago) => phone.remember(bob, { text: `secret of ${ago}`, from: bob.user, at: now - ago * 86_400 }))
}

async function jobTypes(world: World): Promise<string[]> {
  return ((await world.service.get('/api/jobs')).body as { type: string }[]).map(({ type }) => type)
}

test('the messages of the last 30 days are kept, encrypted, also when the instance does not import them', async () => {
  await using world = await World.unlinked({ environment })
  const ids = remember(world, 31, 29, 8, 1)
  await world.pair('a', owner, { history: { enabled: false } })
  const { database } = world.service
  const store = new HistoryStore(database)
  let kept: string[] = []
  const read = async () => {
    const [chat] = await store.chats('a')
    const page = { since: 0, after: null, limit: 10 }
    kept = chat ? (await store.pending('a', [chat.jid], page)).map(({ event }) => event.id) : []
    return kept.length > 0
  }
  await waitUntil('the history is kept', read)
  assert.deepEqual(kept, ids.slice(1))
  const rows = await database.read(database.query.selectFrom('history_messages').select('event'))
  assert.ok(rows.every(({ event }) => event && !Buffer.from(event).includes('secret')))
  assert.deepEqual(await jobTypes(world), [])
})

test('the import of what the phone sends is announced as a job', async () => {
  await using world = await World.unlinked({ environment })
  remember(world, 1)
  await world.pair('a', owner, { history: { enabled: true, days: 7 } })
  await waitUntil('a job is announced', async () => (await jobTypes(world)).join() === 'history_pairing')
})

// Imports that are refused or fail: nothing of them is stored, and the helpdesk does not hear of them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { World } from '../../harness/world.ts'
import { importedAt, importing, jobsOf } from './harness/watched-jobs.ts'

const bob = '5511988880001'
const people = ['people', 'contacts', 'conversations', 'conversation_chats', 'message_map'] as const
const history = ['history_messages', 'history_chats', 'jobs', 'import_chats', 'message_dates', 'audit'] as const

type Table = (typeof people)[number] | (typeof history)[number]

async function countsOf({ service }: World, tables: readonly Table[]): Promise<Record<string, number>> {
  const { database } = service
  const counts: Record<string, number> = {}
  for (const table of tables) {
    const query = database.query.selectFrom(table).select(({ fn }) => fn.countAll<number>().as('count'))
    counts[table] = Number((await database.read(query))[0]?.count)
  }
  return counts
}

/** Bob has three old messages on the phone, and wrote a new one. */
async function hearFromBob(world: World): Promise<void> {
  const person = world.network.person({ phone: bob })
  const at = Math.floor(Date.now() / 1000) - 3600
  for (const n of [0, 1, 2]) world.phone.remember(person, { text: `old ${n}`, from: person.user, at: at + n })
  await world.arrived(person.text(world.phone, 'hello'))
  await world.drained()
  await world.helpdesk.settled()
}

for (const engine of drawnEngines(import.meta.url)) {
  describe(`an import on ${engine}`, { concurrency: 2 }, () => {
    test('that is refused stores nothing and asks nothing of the helpdesk', async () => {
      await using world = await World.open({ engine, environment: importing })
      await hearFromBob(world)
      const all = [...people, ...history]
      const before = await countsOf(world, all)
      const requests = world.helpdesk.requests.length
      const refusals = [
        ['import?chat=5511777770001', 'SERVICE_NO_ANCHOR'],
        ['import?chat=300000000000009%40lid', 'SERVICE_NO_ANCHOR'],
        ['import?chat=120363099999999999%40g.us', 'SERVICE_NO_ANCHOR'],
        ['import?chat=bob', 'SERVICE_BAD_REQUEST'],
        [`import?chat=${bob}&count=many`, 'SERVICE_BAD_REQUEST'],
        ['import-all?days=x', 'SERVICE_BAD_REQUEST'],
        ['import-all-async?media_days=1.5', 'SERVICE_BAD_REQUEST'],
      ] as const
      for (const [path, code] of refusals) assertRefused(await world.command(`/n0/history/${path}`), code)
      assert.deepEqual(await countsOf(world, all), before)
      assert.equal(world.helpdesk.requests.length, requests)
    })

    test('whose phone is offline says so, creates no conversation, and succeeds later', async () => {
      await using world = await World.open({ engine, environment: importing })
      await hearFromBob(world)
      const before = await countsOf(world, people)
      const requests = world.helpdesk.requests.length
      world.phone.isOffline = true
      const answer = await world.command(`/n0/history/import?chat=${bob}&timeout_sec=1`)
      assertRefused(answer, 'SERVICE_NETWORK_FAILED', /did not answer within 1 s: open WhatsApp on the phone/)
      const { status, body } = await world.command('/n0/history/import-all?timeout_per_chat=1')
      const { chats, errors, posted } = body as Record<string, number>
      assert.deepEqual([status, chats, errors, posted], [200, 1, 1, 0])
      assert.deepEqual(
        (await jobsOf(world)).map((job) => job.status),
        ['completed', 'failed'],
      )
      assert.deepEqual(await countsOf(world, people), before)
      assert.deepEqual(await countsOf(world, ['history_messages', 'message_dates']), {
        history_messages: 0,
        message_dates: 0,
      })
      assert.equal(world.helpdesk.requests.length, requests)
      world.phone.isOffline = false
      const later = await world.command(`/n0/history/import?chat=${bob}`)
      assert.equal(later.status, 200, later.text)
      assert.deepEqual([later.status, (later.body as Record<string, unknown>)['posted']], [200, 3])
      assert.equal(importedAt(world.helpdesk).length, 4)
    })
  })
}

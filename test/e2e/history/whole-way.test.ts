// Imports from the phone to the helpdesk with all real parts, and jobs that are stopped on the way.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fillArchive } from '../../../sim/network/past/fill-archive.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { owner } from '../../harness/instance-api.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'
import type { JobBody } from './harness/import-world.ts'

const environment = { SERVICE_HISTORY_IMPORT_ENABLED: 'true', SERVICE_HISTORY_IMPORT_RATE_PER_SEC: '1000' }

async function jobsOf(world: World): Promise<JobBody[]> {
  return (await world.service.get('/api/jobs')).body as JobBody[]
}

/** The newest job, when it has this status. */
async function newestJob(world: World, status: string): Promise<JobBody> {
  let jobs: JobBody[] = []
  const holds = async () => {
    jobs = await jobsOf(world)
    return jobs[0]?.status === status
  }
  await waitUntil(`the newest job is ${status}`, holds, { instead: () => jobs })
  const [newest] = jobs
  assert.ok(newest)
  return newest
}

for (const engine of drawnEngines(import.meta.url)) {
  describe(`the way from the phone to the helpdesk on ${engine}`, () => {
    test('what the phone sends after the pairing is imported, and a second import posts nothing', async () => {
      await using world = await World.unlinked({ engine, environment })
      const phone = world.network.account({ phone: owner })
      const archive = fillArchive(world.network, phone, { chats: 4, messages: 16, groupEvery: 4, lidEvery: 3, days: 5 })
      await world.pair('a')
      const { type, result, error } = await newestJob(world, 'completed')
      assert.deepEqual([type, error, result?.['chats'], result?.['imported']], ['history_pairing', null, 4, 4])
      for (const { items } of archive.chats) {
        for (const item of items) await world.arrived(item)
      }
      const again = await world.command('/a/history/import-all?days=30')
      assert.equal(again.status, 200)
      const { scanned, imported, posted, errors } = again.body as Record<string, number>
      assert.deepEqual({ scanned, imported, posted, errors }, { scanned: 4, imported: 0, posted: 0, errors: 0 })
    })

    test('older messages of a chat come on request, or the caller hears that the phone is offline', async () => {
      await using world = await World.open({ engine, environment })
      const bob = world.network.person({ phone: '5511988880001' })
      const at = Math.floor(Date.now() / 1000) - 3600
      const older = [0, 1, 2].map((n) => ({
        id: world.phone.remember(bob, { text: `old ${n}`, from: bob.user, at: at + n }),
      }))
      await world.arrived(bob.text(world.phone, 'hello'))
      world.phone.isOffline = true
      const unanswered = await world.command('/n0/history/import?chat=5511988880001&timeout_sec=1')
      assertRefused(unanswered, 'SERVICE_NETWORK_FAILED', /open WhatsApp on the phone/)
      world.phone.isOffline = false
      const { status, body } = await world.command('/n0/history/import?chat=5511988880001')
      assert.equal(status, 200, JSON.stringify(body))
      const { conversations, posted, errors, oldest_ts, newest_ts } = body as Record<string, number>
      assert.deepEqual({ conversations, posted, errors }, { conversations: 1, posted: 3, errors: 0 })
      assert.deepEqual([oldest_ts, newest_ts], [at, at + 2])
      for (const message of older) await world.arrived(message)
    })

    test('a job is cancelled while it waits for the phone, and while it waits for the pace', async () => {
      await using world = await World.open({
        engine,
        environment: { ...environment, SERVICE_HISTORY_IMPORT_RATE_PER_SEC: '0.1' },
      })
      const bob = world.network.person({ phone: '5511988880001' })
      const at = Math.floor(Date.now() / 1000) - 3600
      for (let n = 0; n < 5; n++) world.phone.remember(bob, { text: `old ${n}`, from: bob.user, at: at + n })
      await world.arrived(bob.text(world.phone, 'hello'))
      const cancel = async () => {
        const { id } = await newestJob(world, 'running')
        const { body } = await world.service.request('DELETE', `/api/jobs/${id}`)
        assert.equal((body as JobBody).status, 'cancelled')
        return id
      }
      world.phone.isOffline = true
      const asked = world.command('/n0/history/import?chat=5511988880001&timeout_sec=300')
      await cancel()
      assertRefused(await asked, 'SERVICE_JOB_CANCELLED')
      world.phone.isOffline = false
      const paced = world.command('/n0/history/import?chat=5511988880001')
      await waitUntil(
        'a message is kept',
        async () => Number((await jobsOf(world))[0]?.progress['messages_kept'] ?? 0) > 0,
      )
      await cancel()
      assertRefused(await paced, 'SERVICE_JOB_CANCELLED')
      const before = world.helpdesk.messages().length
      await world.helpdesk.settled()
      assert.equal(world.helpdesk.messages().length, before)
    })
  })
}

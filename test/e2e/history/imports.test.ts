// The endpoints that import history: what they ask for, what they answer, and what they refuse.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BridgeError } from '../../../src/core/errors.ts'
import type { Database } from '../../../src/storage/database.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'
import { sampleResult } from '../../jobs/harness/scripted-runner.ts'
import { ImportWorld } from './harness/import-world.ts'

const bob = '5511988880001'
const bobJid = `${bob}@s.whatsapp.net`
const imports = ['history/import?chat=5511988880001', 'history/import-all', 'history/import-all-async']

for (const engine of drawnEngines(import.meta.url)) {
  describe(`an import of history on ${engine}`, () => {
    test('of a chat is asked for by phone or jid, and answers what became of its messages', async () => {
      await using set = await ImportWorld.open({ engine })
      await set.hearFrom(bob)
      for (const chat of [bob, `+${bob}`, bobJid, '551188880001', '+55 (11) 98888-0001']) {
        const asked = set.importChat(`chat=${encodeURIComponent(chat)}`)
        const { job, resolve } = await set.runner.waitForRun('n0')
        assert.equal(job.type, 'history_chat')
        assert.ok(job.params.chat?.includes(bobJid), chat)
        assert.deepEqual({ ...job.params, chat: 0 }, { chat: 0, count: 50, timeoutMs: 30_000, days: 7, mediaDays: 0 })
        resolve(sampleResult)
        const { status, body } = await asked
        assert.equal(status, 200)
        assert.deepEqual(body, {
          ...{ instance: 'n0', conversations: 1, messages_seen: 9, messages_kept: 5, posted: 4 },
          ...{ skipped: 1, errors: 0, oldest_ts: 100, newest_ts: 200 },
        })
      }
      assert.equal((await set.jobs()).length, 5)
      assert.deepEqual(new Set(await set.audit()), new Set(['history.import n0']))
    })

    test('of all chats answers with counts of chats', async () => {
      await using set = await ImportWorld.open({ engine })
      const asked = set.importAll('count_per_chat=20&timeout_per_chat=5&days=3&media_days=2')
      const { job, resolve } = await set.runner.waitForRun('n0')
      assert.deepEqual(job.params, { chat: null, count: 20, timeoutMs: 5000, days: 3, mediaDays: 2 })
      resolve(sampleResult)
      const { status, body } = await asked
      const counts = { chats: 2, scanned: 2, imported: 1, skipped: 1, no_anchor: 0, errors: 0, posted: 4 }
      assert.deepEqual([status, body], [200, { instance: 'n0', ...counts }])
    })

    test('takes numbers outside of the limits as the limits, and days by default from the settings', async () => {
      await using set = await ImportWorld.open({ engine, environment: { SERVICE_HISTORY_IMPORT_DAYS: '11' } })
      set.runner.answer = () => Promise.resolve(sampleResult)
      const seen = async (query: string) => {
        const id = await set.start(query)
        await waitUntil('the job has ended', async () => (await set.job(id)).status === 'completed')
        const { database } = set.world.service
        const read = database.query.selectFrom('jobs').select('params').where('id', '=', id)
        const { count, timeoutMs, days, mediaDays } = JSON.parse((await database.read(read))[0]?.params ?? '') as {
          [name: string]: number
        }
        return [count, timeoutMs, days, mediaDays]
      }
      assert.deepEqual(await seen(''), [50, 30_000, 11, 0])
      assert.deepEqual(
        await seen('count_per_chat=999&timeout_per_chat=999&days=99&media_days=99'),
        [200, 300_000, 30, 30],
      )
      const huge = '9'.repeat(400)
      assert.deepEqual(
        await seen(`count_per_chat=1000000000&timeout_per_chat=${huge}&days=12345678901&media_days=${huge}`),
        [200, 300_000, 30, 30],
      )
      assert.deepEqual(await seen('count_per_chat=0&timeout_per_chat=0&days=-4&media_days=-1'), [1, 1000, 1, 0])
    })

    test('is refused for junk, and leaves nothing behind', async () => {
      await using set = await ImportWorld.open({ engine })
      await set.hearFrom(bob)
      const junk = ['', 'chat=', 'chat=bob', 'chat=status%40broadcast', 'chat=0', 'chat=1%40newsletter', 'chat=12%40g']
      for (const query of junk) assertRefused(await set.importChat(query), 'SERVICE_BAD_REQUEST', /chat/)
      for (const name of ['count', 'timeout_sec', 'days', 'media_days']) {
        for (const value of ['x', '1.5', '1e3', '']) {
          const answer = await set.importChat(`chat=${bob}&${name}=${value}`)
          assertRefused(answer, 'SERVICE_BAD_REQUEST', new RegExp(name))
        }
      }
      for (const name of ['count_per_chat', 'timeout_per_chat', 'days', 'media_days']) {
        assertRefused(await set.importAll(`${name}=x`), 'SERVICE_BAD_REQUEST', new RegExp(name))
      }
      for (const path of imports) {
        assertRefused(await set.world.command(`/other/${path}`), 'SERVICE_INSTANCE_NOT_FOUND')
      }
      assert.deepEqual([await set.jobs(), await set.audit(), set.runner.begun], [[], [], []])
    })

    test('is refused while imports are switched off', async () => {
      await using world = await World.open({ engine })
      for (const path of imports) {
        const answer = await world.command(`/n0/${path}`)
        assertRefused(answer, 'SERVICE_HISTORY_DISABLED', /SERVICE_HISTORY_IMPORT_ENABLED/)
      }
      assert.deepEqual((await world.service.get('/api/jobs')).body, [])
    })

    test('is refused while the instance is not ready, because the phone cannot be asked', async () => {
      await using set = await ImportWorld.open({ engine })
      const { world } = set
      await set.hearFrom(bob)
      world.network.fault({ kind: 'login_failure', code: 503, times: Infinity })
      await world.network.strike({ kind: 'drop', account: world.phone.user.phone })
      await world.reaches('n0', (state) => state !== 'ready')
      for (const path of imports) assertRefused(await world.command(`/n0/${path}`), 'SERVICE_NOT_READY')
      assert.deepEqual(await set.jobs(), [])
    })

    test('of a chat without a known message is refused with the cure', async () => {
      const seed = async (database: Database) => {
        const asked = database.query.updateTable('instances').set({ history_asked_days: 7 }).where('name', '=', 'n1')
        await database.write(asked)
      }
      await using set = await ImportWorld.open({ engine, accounts: 2, seed })
      const unknown = 'chat=5511888889999'
      const [notAsked, asked] = [await set.importChat(unknown), await set.importChat(unknown, 'n1')]
      assertRefused(notAsked, 'SERVICE_NO_ANCHOR', /pair again with history\.enabled true/)
      assertRefused(asked, 'SERVICE_NO_ANCHOR', /known one: wait for a message of this chat$/)
      assertRefused(await set.importChat('chat=120363099999999999%40g.us'), 'SERVICE_NO_ANCHOR')
      assert.deepEqual(await set.jobs(), [])
    })

    test('of a chat whose phone does not answer says so, and a chat that lost its last message is refused', async () => {
      await using set = await ImportWorld.open({ engine })
      await set.hearFrom(bob)
      set.runner.answer = () =>
        Promise.reject(new BridgeError('SERVICE_NETWORK_FAILED', 'no answer: open WhatsApp on the phone'))
      assertRefused(await set.importChat(`chat=${bob}`), 'SERVICE_NETWORK_FAILED', /open WhatsApp on the phone/)
      const [job] = await set.jobs()
      assert.deepEqual([job?.status, job?.error], ['failed', 'no answer: open WhatsApp on the phone'])
      set.runner.answer = () => Promise.resolve({ ...sampleResult, noAnchor: 1 })
      assertRefused(await set.importChat(`chat=${bob}`), 'SERVICE_NO_ANCHOR')
    })

    test('of the same chat is shared, and beside an import of all chats it is refused with the job', async () => {
      await using set = await ImportWorld.open({ engine })
      await set.hearFrom(bob)
      const [one, other] = [set.importChat(`chat=${bob}`), set.importChat(`chat=${bobJid}`)]
      const { resolve } = await set.runner.waitForRun('n0')
      await waitUntil('both callers wait', async () => (await set.audit()).length > 0)
      const id = await set.start()
      const conflict = new RegExp(`${id}.*DELETE /api/jobs/${id}`)
      assertRefused(await set.importChat(`chat=${bob}`), 'SERVICE_JOB_RUNNING', conflict)
      assertRefused(await set.importAll(), 'SERVICE_JOB_RUNNING', conflict)
      resolve(sampleResult)
      assert.deepEqual((await one).body, (await other).body)
      assert.equal((await set.jobs()).length, 2)
    })
  })
}

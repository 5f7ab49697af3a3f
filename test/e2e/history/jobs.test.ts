// Jobs over HTTP: watched, cancelled, resumed after a restart, and gone with their instance.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noImportProgress } from '../../../src/core/jobs/history-jobs.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { owner } from '../../harness/instance-api.ts'
import { apiToken } from '../../harness/service.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'
import { sampleResult } from '../../jobs/harness/scripted-runner.ts'
import { ImportWorld } from './harness/import-world.ts'

for (const engine of drawnEngines(import.meta.url)) {
  describe(`a job on ${engine}`, () => {
    test('shows its progress and its result', async () => {
      await using set = await ImportWorld.open({ engine, accounts: 2 })
      const id = await set.start()
      const other = await set.start('', 'n1')
      const run = await set.runner.waitForRun('n0')
      const counts = { done: 1, total: 2, posted: 3, skipped: 1, errors: 0 }
      run.options.onProgress({ ...noImportProgress, ...counts, seen: 9, kept: 5, estimatedEndAt: 1_800_000_000_000 })
      const { progress, started_at, ended_at, ...job } = await set.job(id)
      assert.deepEqual(
        [job.id, job.type, job.instance, job.status, job.error, job.result],
        [id, 'history_all', 'n0', 'running', null, null],
      )
      const messages = { messages_seen: 9, messages_kept: 5, estimated_end_at: '2027-01-15T08:00:00.000Z' }
      assert.deepEqual(progress, { ...counts, ...messages })
      assert.match(`${job.created_at} ${started_at ?? ''}`, /^\S+T\S+\.\d{3}Z \S+T\S+\.\d{3}Z$/)
      assert.equal(ended_at, null)
      run.resolve(sampleResult)
      await waitUntil('the job has ended', async () => (await set.job(id)).status === 'completed')
      const ended = await set.job(id)
      assert.equal(ended.result?.['posted'], 4)
      assert.equal(ended.progress['estimated_end_at'], null)
      assert.deepEqual(
        (await set.jobs()).map((each) => each.id),
        [other, id],
      )
      assert.deepEqual(await set.jobs('?instance=n0'), [ended])
      assertRefused(await set.world.service.get('/api/jobs?instance=a%20b'), 'SERVICE_BAD_REQUEST', /instance/)
    })

    test('is cancelled once, and its run has stopped when the caller is answered', async () => {
      await using set = await ImportWorld.open({ engine })
      const id = await set.start()
      const waiting = await set.runner.waitForRun('n0')
      assert.equal(waiting.options.signal.aborted, false)
      const { status, body } = await set.cancel(id)
      assert.equal(waiting.options.signal.aborted, true)
      assert.deepEqual([status, (body as { status: string }).status], [200, 'cancelled'])
      assertRefused(await set.cancel(id), 'SERVICE_JOB_ENDED', new RegExp(id))
      assertRefused(await set.cancel('nothing'), 'SERVICE_JOB_NOT_FOUND', /nothing/)
      assertRefused(await set.world.service.get('/api/jobs/nothing'), 'SERVICE_JOB_NOT_FOUND')
      assert.deepEqual(await set.audit(), ['history.import n0', 'job.cancel n0'])
      await set.start()
    })

    test('that is cancelled ends the wait of its caller', async () => {
      await using set = await ImportWorld.open({ engine })
      const asked = set.importAll()
      const { job } = await set.runner.waitForRun('n0')
      await set.cancel(job.id)
      assertRefused(await asked, 'SERVICE_JOB_CANCELLED')
    })

    test('goes on when its caller hangs up', async () => {
      await using set = await ImportWorld.open({ engine })
      const hangUp = new AbortController()
      const url = `${set.world.service.url}/api/instances/n0/history/import-all`
      const headers = { authorization: `Bearer ${apiToken}` }
      const asked = assert.rejects(fetch(url, { method: 'POST', headers, signal: hangUp.signal }), /abort/i)
      const run = await set.runner.waitForRun('n0')
      hangUp.abort()
      await asked
      run.resolve(sampleResult)
      await waitUntil('the job has ended', async () => (await set.job(run.job.id)).status === 'completed')
    })

    test('is resumed after a restart, and its caller hears that it will be', async () => {
      await using set = await ImportWorld.open({ engine, accounts: 2 })
      const asked = set.importAll()
      const { job } = await set.runner.waitForRun('n0')
      const other = await set.start('', 'n1')
      await set.runner.waitForRun('n1')
      const restarted = set.world.restartService()
      assertRefused(await asked, 'SERVICE_STOPPING', new RegExp(job.id))
      await restarted
      assert.deepEqual(set.runner.stops, ['stopping', 'stopping'])
      for (const instance of ['n0', 'n1']) (await set.runner.waitForRun(instance)).resolve(sampleResult)
      for (const id of [job.id, other]) {
        await waitUntil('the job has ended', async () => (await set.job(id)).status === 'completed')
      }
      assert.equal(set.runner.begun.length, 4)
    })

    test('stops at once when its instance is deleted, and is gone with it', async () => {
      await using set = await ImportWorld.open({ engine, accounts: 2 })
      const asked = set.importAll()
      await set.runner.waitForRun('n0')
      const other = await set.start('', 'n1')
      const { status } = await set.world.service.request('DELETE', '/api/instances/n0')
      assert.equal(status, 200)
      assert.deepEqual(set.runner.stops, ['deleted'])
      assertRefused(await asked, 'SERVICE_INSTANCE_NOT_FOUND')
      assert.deepEqual(
        (await set.jobs()).map(({ id }) => id),
        [other],
      )
    })
  })

  describe(`the history of an instance on ${engine}`, () => {
    test('is set at its creation and later, and shown', async () => {
      await using set = await ImportWorld.open({
        ...{ engine, accounts: 0, environment: { SERVICE_HISTORY_IMPORT_DAYS: '12' } },
      })
      const { world } = set
      await world.create({ name: 'a' })
      assert.deepEqual((await world.detail('a')).history, { enabled: true, days: 12, asked_days: 0 })
      await world.create({ name: 'b', history: { enabled: false, days: 99 } })
      assert.deepEqual((await world.detail('b')).history, { enabled: false, days: 30, asked_days: 0 })
      await world.patch('b', { history: { enabled: true, days: null } })
      await world.patch('b', { history: { days: 0 } })
      await world.patch('b', { history: null })
      assert.deepEqual((await world.detail('b')).history, { enabled: true, days: 1, asked_days: 0 })
      assertRefused(await world.patch('b', { history: { days: 'x' } }), 'SERVICE_BAD_REQUEST', /history.*days/)
      assertRefused(await world.patch('b', { history: true }), 'SERVICE_BAD_REQUEST', /history/)
      const { body } = await world.service.get('/api/audit?instance=b&limit=1')
      const { entries } = body as { entries: { metadata: { fields: string[] } }[] }
      assert.deepEqual(entries[0]?.metadata.fields, ['history_days'])
    })

    test('says for how many days the phone was asked', async () => {
      await using set = await ImportWorld.open({ engine, accounts: 0 })
      const { world } = set
      await world.pair('a', owner, { history: { days: 5 } })
      assert.deepEqual((await world.detail('a')).history, { enabled: true, days: 5, asked_days: 5 })
    })

    test('cannot be enabled while imports are switched off, and nothing is created', async () => {
      await using world = await World.unlinked({ engine })
      assertRefused(await world.create({ name: 'a', history: { enabled: true } }), 'SERVICE_HISTORY_DISABLED')
      assert.deepEqual((await world.service.get('/api/instances')).body, [])
      await world.create({ name: 'a', history: { enabled: false, days: 3 } })
      assertRefused(await world.patch('a', { history: { enabled: true } }), 'SERVICE_HISTORY_DISABLED')
      assert.deepEqual((await world.detail('a')).history, { enabled: false, days: 3, asked_days: 0 })
    })
  })
}

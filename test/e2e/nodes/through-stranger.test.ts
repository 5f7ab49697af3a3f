// A node that holds no instance answers like the owner. `npm run test:stranger` asks it the whole API; this is what the gate asks.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noImportProgress } from '../../../src/core/jobs/history-jobs.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { withoutPostgres } from '../../harness/databases.ts'
import { requestFrom } from '../../harness/http-request.ts'
import type { Detail } from '../../harness/instance-api.ts'
import { apiToken } from '../../harness/service.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'
import { sampleResult } from '../../jobs/harness/scripted-runner.ts'
import { ImportWorld } from '../history/harness/import-world.ts'

const options = { engine: 'postgres', throughStranger: true } as const
const gate = { skip: withoutPostgres }

test('the details of all instances have the QR code that the owner shows', gate, async () => {
  await using world = await World.unlinked(options)
  await world.create({ name: 'a' })
  await world.create({ name: 'b' })
  await world.qrText('a')
  const atOwner = () => requestFrom(world.service.app.url, 'GET', '/api/instances/bulk/status', { token: apiToken })
  const shown = ({ body }: { body: unknown }) =>
    (body as Detail[]).map(({ name, state, qr }) => [name, state, qr.available, qr.generated_at])
  await waitUntil('both show a QR code', async () => shown(await atOwner()).every(([, , isAvailable]) => isAvailable))
  assert.deepEqual(shown(await world.service.get('/api/instances/bulk/status')), shown(await atOwner()))
  const named = (await world.service.get('/api/instances/bulk/status?names=b,gone')).body as Detail[]
  assert.deepEqual(
    named.map(({ name, state }) => [name, state]),
    [
      ['b', 'qr_pending'],
      ['gone', 'not_found'],
    ],
  )
  assert.equal(named[0]?.qr.available, true)
})

test('a job has the progress that the owner knows, and its caller hears the end of it', gate, async () => {
  await using set = await ImportWorld.open(options)
  const asked = set.importAll()
  const run = await set.runner.waitForRun('n0')
  run.options.onProgress({ ...noImportProgress, done: 1, total: 2, posted: 3 })
  assert.deepEqual((await set.job(run.job.id)).progress, (await set.jobs())[0]?.progress)
  assert.partialDeepStrictEqual(await set.job(run.job.id), { status: 'running', progress: { done: 1, posted: 3 } })
  run.resolve(sampleResult)
  assert.partialDeepStrictEqual((await asked).body, { posted: 4 })
  assert.equal((await set.job(run.job.id)).status, 'completed')
})

test('a caller who waits for a job hears that the owner stops', gate, async () => {
  await using set = await ImportWorld.open(options)
  const asked = set.importAll()
  const { job } = await set.runner.waitForRun('n0')
  const restarted = set.world.restartService()
  assertRefused(await asked, 'SERVICE_STOPPING', new RegExp(job.id))
  await restarted
})

test('the owner goes on with a tenant as soon as another node has changed it', gate, async () => {
  await using world = await World.unlinked(options)
  await world.create({ name: 'a', owner_tag: 'acme' })
  const access = { downstream_base_url: 'https://desk.example', downstream_api_token: 't', downstream_account_id: 3 }
  for (const inbox of [4, 5, 6, 7]) {
    const body = { ...access, downstream_inbox_id: inbox }
    assert.equal((await world.service.request('PUT', '/api/tenants/acme', { body })).status, 200)
    const atOwner = await requestFrom(world.service.app.url, 'GET', '/api/destinations', { token: apiToken })
    assert.deepEqual(
      (atOwner.body as { inbox_id: number }[]).map(({ inbox_id }) => inbox_id),
      [1, inbox],
    )
  }
})

test('the past states of an instance are complete', gate, async () => {
  await using world = await World.open(options)
  const { body } = await world.service.get('/api/instances/n0/states')
  const { states } = body as { states: { state: string }[] }
  assert.equal(states.at(-1)?.state, 'ready')
})

test('messages of agents and customers pass', gate, async () => {
  await using world = await AgentWorld.open(options)
  await world.write('hello')
  await world.received('hello')
  const { conversationId } = await world.arrived(world.bob.text(world.phone, 'hi'))
  assert.ok(conversationId)
  assert.equal(world.service.holds('n0'), true)
})

// A rolling upgrade under traffic: nodes of two builds run side by side, and each instance moves once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutPostgres } from '../../harness/databases.ts'
import { ClusterStage } from './harness/cluster-stage.ts'
import { terminate } from './harness/faults.ts'

const options = { skip: withoutPostgres, timeout: 600_000 }

test('instances move to the new build once, and nothing is lost, doubled or unreadable', options, async () => {
  await using stage = await ClusterStage.open({ nodes: 2, accounts: 2, customersPerAccount: 1 })
  const { phones } = stage.parts
  stage.traffic.start()
  const old = [...stage.nodes.living]
  const marks = phones.map(({ companionEvents }) => companionEvents.length)
  const next = await stage.nodes.join({ version: '999.0.0' })
  for (const node of old) await terminate(stage, node)
  for (const instance of stage.instances) assert.equal(await stage.ownerOf(instance), next)
  const states = phones.map(({ companionEvents }, index) =>
    companionEvents.after(marks[index] ?? 0).map(({ state }) => state),
  )
  assert.deepEqual(
    states,
    phones.map(() => ['offline', 'online']),
  )
  const builds = (await stage.ask({ method: 'GET', path: '/api/nodes' })).text
  assert.match(builds, /"build":"999\.0\.0"/)
  await stage.assertNothingWrong()
})

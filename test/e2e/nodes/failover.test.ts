// Two nodes under traffic: one stands still, and PostgreSQL is away. rounds.test.ts kills a node, ends one and cuts one off.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutPostgres } from '../../harness/databases.ts'
import { ClusterStage } from './harness/cluster-stage.ts'
import * as faults from './harness/faults.ts'

const options = { skip: withoutPostgres, timeout: 600_000 }

test('nothing is wrong after nodes stood still, lost PostgreSQL and lost each other', options, async (t) => {
  await using stage = await ClusterStage.open({ nodes: 2, accounts: 2 })
  const { phones } = stage.parts
  stage.traffic.start()

  /** Each step begins and ends with all accounts online. */
  const step = (name: string, happen: () => Promise<void>) =>
    t.test(name, async () => {
      await happen()
      await stage.restore()
      stage.assertNothingWrongYet(name)
    })

  await step('a node stands still for longer than the others wait', async () => {
    await faults.stop(stage, await stage.ownerOf('n0'))
  })
  await step('PostgreSQL is away for 2 s', () => faults.outage(stage, 2000))
  await step('PostgreSQL is away for 9 s', () => faults.outage(stage, 9000))
  await step('nodes that reach nothing close their connections, and open each of them once afterwards', async () => {
    const marks = phones.map(({ companionEvents }) => companionEvents.length)
    await faults.apart(stage, 6000)
    await stage.restore()
    const states = phones.map(({ companionEvents }, index) =>
      companionEvents.after(marks[index] ?? 0).map(({ state }) => state),
    )
    assert.deepEqual(
      states,
      phones.map(() => ['offline', 'online']),
    )
  })
  await stage.assertNothingWrong()
})

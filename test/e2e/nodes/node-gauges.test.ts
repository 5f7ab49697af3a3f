// What the gauges of a node tell when there is something to tell.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimNetwork } from '../../../sim/network/sim-network.ts'
import { migratedLocation, withoutPostgres } from '../../harness/databases.ts'
import { seedLinked } from '../../harness/linked-seed.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { Service } from '../../harness/service.ts'
import { nodeSettings } from '../../harness/stranger.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { RowLocker } from '../../storage/harness/row-locker.ts'

const ofNode = ['service_node_instances', 'service_node_connected']
const ofCluster = ['service_free_instances', 'service_node_settings_differ', 'service_database_set_back']

/** The values of these gauges; those of a node carry its name. */
async function valuesOf({ app }: Service, names: readonly string[]): Promise<number[]> {
  const text = await (await fetch(`${app.url}/metrics`)).text()
  return names.map((name) => Number(new RegExp(`^${name}(?:\\{node="[^"]+"\\})? (.+)$`, 'm').exec(text)?.[1]))
}

function tells(service: Service, names: readonly string[], expected: readonly number[]): Promise<void> {
  let found: number[] = []
  const isTold = async () => (found = await valuesOf(service, names)).join() === expected.join()
  return waitUntil(`the gauges are ${expected.join()}`, isTold, { instead: () => found })
}

test(
  'the gauges of nodes tell what each holds, what is free, other settings and a lost past',
  { skip: withoutPostgres },
  async () => {
    await using place = await migratedLocation('postgres')
    await using network = await SimNetwork.start()
    await using first = await Service.start({
      ...{ place, network, environment: await nodeSettings('owner') },
      seed: async (database) => {
        await seedLinked(database, network, 1)
        await database.write(database.query.insertInto('instances').values(sampleInstanceColumns('unlinked')))
      },
    })
    const { database } = first
    await tells(first, ofNode, [2, 1])
    // What is free is known by the next beat.
    await tells(first, ofCluster, [0, 0, 0])
    const other = { ...(await nodeSettings('stranger')), SERVICE_OUTGOING_RATE_LIMIT: '7' }
    await using second = await Service.start({ place, network, environment: other })
    await tells(first, ofCluster, [0, 1, 0])
    assert.deepEqual(await valuesOf(second, [...ofNode, ...ofCluster]), [0, 0, 0, 0, 0])

    await using locker = await RowLocker.connect(place.location)
    await locker.hold(`INSERT INTO assignments (instance, node, epoch, since) VALUES ('free', NULL, 0, 0)`)
    await locker.commit()
    await locker.hold(`SELECT epoch FROM assignments WHERE instance = 'free' FOR UPDATE`)
    for (const service of [first, second]) await tells(service, ofCluster.slice(0, 1), [1])
    // A replica that had not everything has taken over.
    await database.write(database.query.updateTable('nodes').set((row) => ({ beat: row('beat', '-', 1) })))
    for (const [index, service] of [first, second].entries()) await tells(service, ofCluster, [1, 1 - index, 1])
    await locker.release()
  },
)

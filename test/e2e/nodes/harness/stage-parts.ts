// What the nodes of a stage share: the simulated network and helpdesk, the database with linked accounts, and the balancer. Each
// account has a tenant and a helpdesk inbox of its own.

import type { SimHelpdesk } from '../../../../sim/helpdesk/sim-helpdesk.ts'
import type { SimPhone } from '../../../../sim/network/accounts/sim-phone.ts'
import type { Database } from '../../../../src/storage/database.ts'
import { TenantStore } from '../../../../src/storage/stores/accounts/tenant-store.ts'
import type { TestLocation } from '../../../harness/databases.ts'
import { harshNetwork } from '../../../harness/harsh-network.ts'
import { seedLinked } from '../../../harness/linked-seed.ts'
import { PostgresServer } from '../../../harness/postgres-server.ts'
import { sampleAudit } from '../../../harness/samples.ts'
import { networkEnvironment } from '../../../harness/service.ts'
import { openTestConnection } from '../../../harness/test-connection.ts'
import { openParts } from '../../../harness/world-parts.ts'
import type { Parts } from '../../../harness/world-parts.ts'
import { Balancer } from './balancer.ts'
import type { ReplicatedServer } from './replicated-server.ts'
import { replaceDatabaseClock } from './database-clock.ts'

export type StageOptions = {
  /** How many processes run. */
  nodes?: number
  accounts?: number
  customersPerAccount?: number
  /** A PostgreSQL of the stage's own, which can crash. */
  hasOwnServer?: boolean
  /** A PostgreSQL whose replica can take over. The caller ends it. */
  replicated?: ReplicatedServer
  /** The clocks of the nodes and of PostgreSQL can be stepped. */
  hasSteppedClocks?: boolean
  /** Nodes start cells. Otherwise faults that strike again and again make no instance a suspect. */
  hasCells?: boolean
  environment?: Record<string, string>
  seed?: string
}

export type StageParts = Parts & {
  balancer: Balancer
  database: Database
  phones: SimPhone[]
  server: PostgresServer | undefined
}

/** All parts go with the stack. `urls` names the nodes that run. */
export async function openStageParts(
  stack: AsyncDisposableStack,
  options: StageOptions,
  urls: () => readonly string[],
): Promise<StageParts> {
  const { accounts = 2, hasOwnServer = false, hasSteppedClocks = false, hasCells = false } = options
  const { environment = {}, seed = 'causeway' } = options
  const server = hasOwnServer ? stack.use(await PostgresServer.start()) : undefined
  const own = options.replicated ?? server
  const parts = await openParts(stack, {
    engine: 'postgres',
    network: { ...harshNetwork, seed },
    helpdesk: { messagesPerMinute: 100_000, searchesPerMinute: 100_000, seed },
    environment: {
      ...{ SERVICE_DRAIN_RATE: '0', SERVICE_SHUTDOWN_GRACE: '1s', SERVICE_NODE_CELLS: String(hasCells) },
      ...environment,
    },
    ...(own && { place: placeOn(own) }),
  })
  const { network, helpdesk, place } = parts
  const balancer = stack.use(await Balancer.start(urls))
  const database = stack.use(await openTestConnection(place.location))
  if (hasSteppedClocks) await replaceDatabaseClock(database)
  const phones = await seedLinked(database, network, accounts)
  for (const index of phones.keys()) await giveInbox(database, helpdesk, balancer.url, index)
  const settings = { ...networkEnvironment(network), ...parts.environment }
  return { ...parts, environment: settings, balancer, database, phones, server }
}

function placeOn({ url }: Pick<PostgresServer, 'url'>): TestLocation {
  return { location: { engine: 'postgres', url }, url, [Symbol.asyncDispose]: () => Promise.resolve() }
}

async function giveInbox(database: Database, helpdesk: SimHelpdesk, url: string, index: number): Promise<void> {
  const ownerTag = `t${index}`
  const instance = `n${index}`
  const webhookUrl = `${url}/api/instances/${instance}/webhook`
  const inbox = helpdesk.world.addInbox({ name: `Inbox of ${instance}`, webhookUrl })
  const { url: baseUrl, account_id: accountId, api_token: apiToken } = helpdesk.facts
  const settings = { baseUrl, accountId, inboxId: inbox.id, apiToken, webhookSecret: inbox.secret }
  await new TenantStore(database).put(ownerTag, settings, sampleAudit())
  await database.write(
    database.query.updateTable('instances').set({ owner_tag: ownerTag }).where('name', '=', instance),
  )
}

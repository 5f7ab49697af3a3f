// The composition root: creates the rooms, the use cases on them, the background work and the HTTP server.

import type { Config } from '../config/config.ts'
import { readOwnDetails } from '../http/instance-details.ts'
import { readOwnJobs } from '../http/jobs/all-jobs.ts'
import { readOwnOverview } from '../http/routes/observe/overview.ts'
import { closeServer } from '../http/server/listener.ts'
import { createServer } from '../http/server/server.ts'
import { StartGate } from '../http/server/start-gate.ts'
import { systemClock } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import { createLog } from '../lib/log.ts'
import type { Log } from '../lib/log.ts'
import { ProcessEvents } from '../lifecycle/process-events.ts'
import type { Base } from './base.ts'
import { readBuildInfo } from './build-info.ts'
import { createInstanceService } from './create-accounts.ts'
import { watchMetrics } from './watch-metrics.ts'
import { createRooms } from './create-rooms.ts'
import { createRoutes } from './create-routes.ts'
import { createSetup } from './create-setup.ts'
import { createTenants } from './create-tenants.ts'
import { createWorkers } from './create-workers.ts'
import { createSoleArrivals, createSoleSupply } from './nodes/sole-supply.ts'
import { createNodeWorkers } from './nodes/create-node-workers.ts'
import { DeletedInstances } from './nodes/deleted-instances.ts'
import { newNode } from './nodes/new-node.ts'
import { limitToDuties } from './nodes/worker-scopes.ts'
import { createOperate } from './operate/create-operate.ts'
import { Readiness } from './readiness.ts'
import type { RoomOptions } from './rooms/room-options.ts'
import { RunningApp } from './running-app.ts'

export type App = RunningApp
export type Overrides = RoomOptions & { clock?: Clock; log?: Log }

export async function createApp(config: Config, overrides: Overrides = {}): Promise<App> {
  const { clock = systemClock } = overrides
  const { log = createLog({ level: config.log.level, format: config.log.format || 'json' }) } = overrides
  await using stack = new AsyncDisposableStack()
  const build = readBuildInfo()
  const base: Base = { config, clock, log, build, node: newNode(config, build.version), stack }
  const ended = Promise.withResolvers<Error>()

  const rooms = await createRooms(base, overrides, ended.resolve)
  const { storage, lifecycle, accounts, tenants, inbound, outbound, sync, jobs, history, setup, perInstance } = rooms
  const { instances, roster, network } = accounts
  const { courier, deliveries } = lifecycle
  const { onRoutingChanged } = rooms
  const deleted = new DeletedInstances([courier, accounts.pendingLogouts], rooms.duties)
  const instanceService = createInstanceService(base, {
    ...{ accounts, storage, inbound, outbound, history, deleted },
    arrivals: rooms.cluster?.arrivals ?? createSoleArrivals(instances),
    live: rooms.live.relay,
    onRoutingChanged,
  })
  const services = {
    tenants: createTenants(base, tenants, {
      onRoutingChanged,
      tellOthers: async () => rooms.cluster?.tellSettings(),
    }),
    instances: instanceService,
    setup: createSetup(base, {
      ...{ instances, roster, instanceService, tenants, downstream: rooms.downstream },
      settingsOf: rooms.settingsOf,
    }),
    operate: createOperate(base, rooms, overrides.machine),
  }
  const processEvents = stack.use(
    new ProcessEvents({ lifecycle: lifecycle.lifecycle, courier, instances: () => instances.records(), clock }),
  )

  const shared = createWorkers(base, {
    ...{ ...storage, instances, network, deliveries, deleted },
    duties: rooms.duties,
  })
  const historyWorkers = [...history.workers, ...jobs.workers, ...rooms.importer.workers, ...rooms.live.records.workers]
  const nodeWorkers = createNodeWorkers(base, storage.node)
  const rest = [
    ...outbound.workers,
    ...rooms.calls.workers,
    ...sync.workers,
    ...historyWorkers,
    setup.worker,
    ...nodeWorkers,
  ]
  const workers = [...shared, ...inbound.workers, ...rest]
  limitToDuties(workers, rooms.duties)
  for (const worker of workers) stack.use(worker)
  watchMetrics(base, rooms, workers, overrides.machine)
  // Before its worker, which waits for the run under way.
  stack.use(setup.watch)
  stack.use(inbound.lateFiles)

  // Real time even under the clock of a test, like the lease.
  const readiness = new Readiness({
    ownership: storage.ownership,
    clock: systemClock,
    nodeTrouble: rooms.nodes.trouble,
  })
  const { cluster } = rooms
  const routes = createRoutes(base, rooms, { services, workers, readiness })
  const server = await createServer({
    settings: config.http,
    clock,
    log,
    gate: new StartGate({ phase: () => readiness.phase, begun: readiness.begun, clock }),
    forwarding: cluster?.forwarding ?? null,
    routes,
  })
  stack.defer(() => closeServer(server))
  return new RunningApp({
    base,
    storage,
    instances,
    supply: cluster
      ? cluster.supply(server, {
          overview: () => readOwnOverview(routes.observe.overview),
          details: () => readOwnDetails(routes.instances),
          jobs: () => readOwnJobs(routes.jobs),
        })
      : createSoleSupply(instances),
    outbound,
    jobs: jobs.jobs,
    lifecycle: lifecycle.lifecycle,
    processEvents,
    routing: tenants.routing,
    workers,
    perInstance,
    server,
    onServing: () => {
      readiness.begin()
      network.version.start()
    },
    ended: ended.promise,
    owned: stack.move(),
  })
}

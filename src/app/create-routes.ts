// Gives every group of HTTP routes the parts that it needs.

import { ownSettingRules as ownSettings } from '../config/own-settings.ts'
import type { ServerRoutes } from '../http/server/server.ts'
import type { InstanceService } from '../instances/service/instance-service.ts'
import type { Ticker } from '../lib/ticker.ts'
import type { InboxSetup } from '../setup/inbox-setup.ts'
import type { TenantService } from '../tenants/tenant-service.ts'
import type { Base } from './base.ts'
import type { Rooms } from './create-rooms.ts'
import { createLoneView } from './nodes/create-cluster-view.ts'
import type { Operate } from './operate/create-operate.ts'
import type { Readiness } from './readiness.ts'

type Parts = {
  services: { instances: InstanceService; tenants: TenantService; setup: InboxSetup; operate: Operate }
  workers: readonly Ticker[]
  readiness: Pick<Readiness, 'shown' | 'readyState'>
}

export function createRoutes({ config, clock, build, node }: Base, rooms: Rooms, parts: Parts): ServerRoutes {
  const { services, workers, readiness } = parts
  const { probe, usage, metrics, audit } = rooms.storage
  const { instances, roster, pendingLogouts, network, reachability } = rooms.accounts
  const { inbound, held, lostCallbacks, parked } = rooms.inbound
  const { outbound } = rooms
  const { version } = build
  const health = {
    version,
    details: config.http.healthDetails,
    clock,
    database: probe,
    roster,
    nodes: rooms.nodes,
    workers,
    ownership: () => readiness.shown,
    outboxPending: outbound.outboxPending,
    inbound,
    held,
    lostCallbacks,
    clocks: outbound.clocks,
    refusals: outbound.refusals,
    reachability,
    pendingLogouts,
    exhausted: rooms.lifecycle.exhausted,
    setup: rooms.setup.findings,
    clientVersion: () => network.version.state,
  }
  const { hub, records, rows, readStoredRows } = rooms.live
  const needs = { ...health, exhaustedByInstance: () => rooms.lifecycle.exhausted.list() }
  const { readOthers } = rooms.nodes
  const cluster = rooms.nodes.cluster ?? createLoneView({ node, clock, instances })
  const overview = { instances, roster, rows, readOthers: () => readOthers('overview'), readStoredRows, needs }
  return {
    version,
    health,
    operations: { build, metrics, readyState: () => readiness.readyState },
    publicStats: {
      publicStats: config.http.publicStats,
      publicStatsOrigins: config.http.publicStatsOrigins,
      version,
      clock,
      roster,
      tenantCount: () => rooms.tenants.store.count(),
      usage,
    },
    instances: {
      ...{ instances, roster, clock, ownSettings, readOthers: () => readOthers('details') },
      ...{ instanceService: services.instances, setup: services.setup },
    },
    setup: { setup: services.setup },
    pairing: { instances, clock, ownSettings },
    check: { checks: rooms.setup.checks },
    parked: { inbound, parked, instances, roster },
    names: { instances, reconciliation: rooms.sync.nameReconciliation },
    numbers: { instances, numbers: rooms.numbers },
    avatars: { instances, resync: rooms.sync.avatars?.resync ?? null },
    tenants: { tenants: services.tenants },
    usage: { usage, roster, clock },
    audit: { audit },
    deliveries: { instances, roster, lifecycle: rooms.lifecycle.lifecycle },
    groups: { groups: rooms.groups, instances },
    messages: {
      bodyLimit: config.http.bodyLimit,
      clock,
      instances,
      webhook: outbound.webhook,
      onAnswered: outbound.answered,
      edit: outbound.edit,
    },
    directMessages: { instances, direct: outbound.direct },
    outbox: {
      ...{ instances, roster, clock, outbox: outbound.outbox, sent: outbound.sent },
      ...{ banRisk: outbound.banRisk, limits: outbound.limits },
    },
    history: { instances, imports: rooms.history.imports, days: config.history.days },
    jobs: { jobs: rooms.jobs.jobs, cancel: rooms.jobs.cancel, readOthers: () => readOthers('jobs') },
    contactsImport: { instances, imports: rooms.contactsImports },
    contactsRepair: { instances, repairs: rooms.contactRepairs },
    adopt: { instances, adoptions: rooms.adoptions },
    observe: { events: { hub }, overview, states: { roster, states: records.states, clock }, nodes: { cluster } },
    operate: {
      ...services.operate,
      bundle: { clock, health, overview, metrics, audit, jobs: rooms.jobs.jobs, states: records.states },
    },
  }
}

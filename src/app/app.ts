// The composition root: builds every part in order, disposes in reverse. With the compose files, which each build one set of
// parts for it, the only place that knows everybody.

import { hostname } from 'node:os'
import { randomBytes } from 'node:crypto'
import { bootWarnings } from './boot-warnings.ts'
import { readBuildInfo } from './build-info.ts'
import type { SendStep } from '../bridge/outbound/send/row-sender.ts'
import { createAccounts, createInstances, receptionBy } from './create-accounts.ts'
import type { Base } from './create-accounts.ts'
import { createDownstream, createNotices, createTenants } from './create-helpdesk.ts'
import { createInbound } from './create-inbound.ts'
import { createLifecycle } from './create-lifecycle.ts'
import { createOutbound } from './create-outbound.ts'
import type { OutboundSet } from './create-outbound.ts'
import type { Config } from '../config/config.ts'
import { closeServer, listen } from '../http/server/listener.ts'
import { createServer } from '../http/server/server.ts'
import { ProcessEvents } from '../lifecycle/process-events.ts'
import { Ownership } from '../instances/ownership.ts'
import { Metrics } from '../ledger/metrics.ts'
import { Usage } from '../ledger/usage.ts'
import { sleep, systemClock } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import { createLog } from '../lib/log.ts'
import type { Log } from '../lib/log.ts'
import { Ticker } from '../lib/ticker.ts'
import { AuditStore } from '../storage/stores/ledger/audit-store.ts'
import { openDatabase } from '../storage/database.ts'
import type { Database } from '../storage/database.ts'
import { refuseUnreadableSecrets } from '../storage/stores/key-check.ts'
import { LeaseStore } from '../storage/stores/lease-store.ts'
import { UsageStore } from '../storage/stores/ledger/usage-store.ts'

export type Overrides = {
  clock?: Clock
  log?: Log
  qrLifetimeMs?: number
  /** Told between the steps of a send, which waits until it resolves. */
  onSendStep?: (step: SendStep) => Promise<void>
  /** How long an uncertain post is looked for before it is repeated. */
  lateCommitMs?: number
}

const usageFlushMs = 60_000
const keySweepMs = 86_400_000
const deliverySweepMs = 3_600_000
// How long operators can look up and repeat a delivery that has ended.
const keepDeliveriesMs = 30 * 86_400_000
// How long the network lets one QR code live.
const defaultQrLifetimeMs = 20_000

export type App = {
  /** Where the HTTP server listens; known once start() has resolved. */
  readonly url: string
  /** Background work by name, for those who decide themselves when it runs. */
  readonly workers: ReadonlyMap<string, Ticker>
  readonly usage: Usage
  /** Resolves when this process owns the accounts and serves. */
  start(): Promise<void>
  /** What comes before the end: tells subscribers and keeps serving for the grace. */
  stop(): Promise<void>
  /** Settles with the reason when the service cannot go on. */
  readonly ended: Promise<Error>
  [Symbol.asyncDispose](): Promise<void>
}

export async function createApp(config: Config, overrides: Overrides = {}): Promise<App> {
  const { clock = systemClock, qrLifetimeMs = defaultQrLifetimeMs } = overrides
  const { log = createLog({ level: config.log.level, format: config.log.format || 'json' }) } = overrides
  await using stack = new AsyncDisposableStack()
  const base: Base = { config, clock, log, qrLifetimeMs, build: readBuildInfo(), stack }
  const ended = Promise.withResolvers<Error>()
  const database = await openStorage(base, ended.resolve)
  const ownership = createOwnership(base, database, ended.resolve)
  const usage = new Usage({ store: new UsageStore(database), clock })
  stack.defer(() => usage.flush())
  const epoch = () => ownership.epoch
  const metrics = new Metrics({ version: base.build.version, instances: () => parts.instances.counts() })
  const news = createLifecycle({
    ...{ ...base, ...base.build, settings: config.lifecycle, database, metrics, usage },
    alsoTold: (announcement) => notices?.heard(announcement),
  })
  const parts = createAccounts(base, {
    ...{ database, epoch },
    lifecycle: news.lifecycle,
    reception: receptionBy(() => inboundSet.reception),
    outbound: () => outbound,
  })
  const tenants = createTenants(base, database, () => {
    inboundSet.held.releaseAll()
  })
  const downstream = createDownstream(base)
  const { lateCommitMs } = overrides
  const inboundSet = createInbound({
    ...{ ...base, ...parts, ...tenants, downstream, database, epoch, usage, metrics },
    ...(lateCommitMs !== undefined && { lateCommitMs }),
  })
  const { inbound, people } = inboundSet
  stack.use(inbound)
  const outbound: OutboundSet = createOutbound({
    ...{ ...base, ...parts, ...tenants, ...news, downstream, database, epoch, usage, metrics, people },
    accounts: parts.instances,
    onSendStep: overrides.onSendStep ?? (() => Promise.resolve()),
    onOperationsMessage: (...message) => notices?.onOperationsMessage(...message),
  })
  const accounts = createInstances(base, { ...parts, inboundSet, outbound, epoch, metrics })
  const notices = createNotices(base, { ...accounts, ...tenants, downstream })
  const backend = stack.use(
    new ProcessEvents({ ...news, clock, instances: () => accounts.instances.list().map(({ record }) => record) }),
  )
  const audit = new AuditStore(database)
  const flush = new Ticker({ name: 'usage-flush', everyMs: usageFlushMs, work: () => usage.flush(), clock, log })
  const sweepKeys = async () => {
    await accounts.instances.dropWorthlessKeys()
    await parts.network.pruneJournal()
  }
  const keySweep = new Ticker({ name: 'key-sweep', everyMs: keySweepMs, work: sweepKeys, clock, log })
  const forget = () => news.deliveries.prune(clock.now() - keepDeliveriesMs)
  const deliverySweep = new Ticker({ name: 'delivery-sweep', everyMs: deliverySweepMs, work: forget, clock, log })
  const workers = [flush, keySweep, deliverySweep, ...inboundSet.workers, ...outbound.workers]
  for (const worker of workers) stack.use(worker)
  stack.use(inboundSet.lateFiles)

  let active = false
  const routes = {
    ...base,
    ...accounts,
    ...tenants,
    ...news,
    ...config.http,
    ...outbound,
    inbound,
    parked: inboundSet.parked,
    held: inboundSet.held,
    database,
    workers,
    metrics,
    usage,
    audit,
    version: base.build.version,
    ownership: () => ownership.state,
  }
  const server = await createServer({ ...config.http, log, isActive: () => active && ownership.serves, routes })
  stack.defer(() => closeServer(server))

  let url = ''
  const start = async () => {
    // A standby on the same machine finds the port taken by the owner, and free once it owns the accounts itself.
    const early = await listen(server, config.http, { tolerateBusy: true })
    await ownership.acquire()
    url = early ?? (await listen(server, config.http)) ?? ''
    await accounts.instances.load()
    await audit.append({ at: clock.now(), actor: 'system', action: 'backend.boot', target: base.build.version })
    for (const { record } of accounts.instances.list()) {
      for (const part of inboundSet.perInstance) await part.take?.(record.name)
    }
    await outbound.load()
    active = true
    await news.courier.boot()
    await accounts.instances.boot()
    backend.started()
    for (const worker of workers) worker.start()
    const records = accounts.instances.list().map(({ record }) => record)
    for (const warning of await bootWarnings(config, records, tenants.tenantCache)) log.warn(warning)
    log.info({ url, version: base.build.version, instances: records.length }, 'service ready')
  }

  /** Sessions stay open for a while longer, so that subscribers can prepare and agents find their messages queued. */
  const stop = async () => {
    if (!active) return
    outbound.hold()
    const graceMs = accounts.instances.counts().active > 0 ? config.lifecycle.shutdownGrace : 0
    await Promise.all([sleep(clock, graceMs), backend.restarting()])
  }

  const owned = stack.move()
  return {
    get url() {
      return url
    },
    workers: new Map(workers.map((worker) => [worker.name, worker])),
    usage,
    start,
    stop,
    ended: ended.promise,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function openStorage({ config, log, stack }: Base, onFatal: (reason: Error) => void): Promise<Database> {
  const { encryptionKeys, database: location } = config.storage
  const database = stack.use(await openDatabase({ location, encryptionKeys, log, onFatal }))
  await refuseUnreadableSecrets(database, encryptionKeys)
  return database
}

function createOwnership({ log, stack }: Base, database: Database, onLost: (reason: Error) => void): Ownership {
  const owner = `${hostname()} pid ${process.pid} (${randomBytes(4).toString('hex')})`
  // Real time whatever a test's clock says: the lease runs on the database's clock.
  return stack.use(new Ownership({ owner, leases: new LeaseStore(database), clock: systemClock, log, onLost }))
}

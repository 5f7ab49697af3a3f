// The composition root: builds every part in order, disposes in reverse. The only file that knows everybody.

import { hostname } from 'node:os'
import { randomBytes } from 'node:crypto'
import { bootWarnings } from './boot-warnings.ts'
import type { Inbound } from './bridge/inbound.ts'
import { readBuildInfo } from './build-info.ts'
import type { SendStep } from './bridge/deliver.ts'
import { composeInbound } from './compose-inbound.ts'
import { composeLifecycle } from './compose-lifecycle.ts'
import { composeOutbound } from './compose-outbound.ts'
import type { OutboundSet } from './compose-outbound.ts'
import type { Config } from './config.ts'
import type { Downstream } from './core/downstream.ts'
import type { Reception } from './core/network.ts'
import { ChatwootDownstream } from './downstream/chatwoot-downstream.ts'
import { closeServer, listen } from './http/listener.ts'
import { drawQr } from './http/qr-picture.ts'
import type { BuildInfo } from './http/routes/operations.ts'
import { createServer } from './http/server.ts'
import { BackendNews } from './lifecycle/backend-news.ts'
import { HelpdeskNotices } from './lifecycle/helpdesk-notices.ts'
import type { Lifecycle } from './lifecycle/lifecycle.ts'
import { noticeTexts } from './lifecycle/notice-texts.ts'
import { InstanceRegistry } from './instances/instance-registry.ts'
import { InstanceService } from './instances/instance-service.ts'
import type { InstanceMessages } from './instances/instance-service.ts'
import { Ownership } from './instances/ownership.ts'
import { Metrics } from './ledger/metrics.ts'
import { Usage } from './ledger/usage.ts'
import { sleep, systemClock } from './lib/clock.ts'
import type { Clock } from './lib/clock.ts'
import { createLog } from './lib/log.ts'
import type { Log } from './lib/log.ts'
import { Gate } from './lib/gate.ts'
import { Ticker } from './lib/ticker.ts'
import { WhatsappNetwork } from './network/whatsapp-network.ts'
import { AuditStore } from './storage/audit-store.ts'
import { openDatabase } from './storage/database.ts'
import type { Database } from './storage/database.ts'
import { InstanceStore } from './storage/instance-store.ts'
import { refuseUnreadableSecrets } from './storage/key-check.ts'
import { JournalStore } from './storage/journal-store.ts'
import { LeaseStore } from './storage/lease-store.ts'
import { SessionKeyStore } from './storage/session-key-store.ts'
import { TenantStore } from './storage/tenant-store.ts'
import { UsageStore } from './storage/usage-store.ts'
import { Routing } from './tenants/routing.ts'
import { TenantCache } from './tenants/tenant-cache.ts'
import { TenantService } from './tenants/tenant-service.ts'

export type Overrides = {
  clock?: Clock
  log?: Log
  qrLifetimeMs?: number
  /** Told between the steps of a send, which waits until it resolves. */
  onSendStep?: (step: SendStep) => Promise<void>
}

const usageFlushMs = 60_000
const keySweepMs = 86_400_000
const deliverySweepMs = 3_600_000
// How long operators can look up and repeat a delivery that has ended.
const keepDeliveriesMs = 30 * 86_400_000
// How many connections may be on their way in at once.
const connectsAtOnce = 8
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

type Base = {
  config: Config
  clock: Clock
  log: Log
  qrLifetimeMs: number
  build: BuildInfo
  stack: AsyncDisposableStack
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
  const news = composeLifecycle({
    ...{ ...base, ...base.build, settings: config.lifecycle, database, metrics, usage },
    alsoTold: (announcement) => notices?.heard(announcement),
  })
  const parts = createAccounts(base, {
    ...{ database, epoch },
    lifecycle: news.lifecycle,
    reception: receptionBy(() => inbound),
    outbound: () => outbound,
  })
  const tenants = createTenants(base, database, () => {
    inbound.routingChanged()
  })
  const downstream = createDownstream(base)
  const inboundSet = createInbound(base, { ...parts, ...tenants, downstream, database, epoch, usage, metrics })
  const { inbound, people } = inboundSet
  const outbound: OutboundSet = composeOutbound({
    ...{ ...base, ...parts, ...tenants, ...news, downstream, database, epoch, usage, metrics, people },
    accounts: parts.instances,
    onSendStep: overrides.onSendStep ?? (() => Promise.resolve()),
    onOperationsMessage: (...message) => notices?.onOperationsMessage(...message),
  })
  const accounts = createInstances(base, { ...parts, ...inboundSet, outbound, epoch, metrics })
  const notices = createNotices(base, { ...accounts, ...tenants, downstream })
  const backend = stack.use(
    new BackendNews({ ...news, clock, instances: () => accounts.instances.list().map(({ record }) => record) }),
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
    for (const { record } of accounts.instances.list()) await inbound.load(record.name)
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

type AccountParts = {
  database: Database
  epoch: () => number
  lifecycle: Lifecycle
  reception: Reception
  outbound: () => OutboundSet
}

function createAccounts(base: Base, { database, epoch, lifecycle, reception, outbound }: AccountParts) {
  const { config, clock, log, qrLifetimeMs, stack } = base
  const keys = new SessionKeyStore(database)
  const network = stack.use(
    new WhatsappNetwork({
      keys,
      journal: new JournalStore(database),
      reception,
      epoch,
      clock,
      log,
      settings: config.network,
      qrLifetimeMs,
      findSent: (...sent) => outbound().findSent(...sent),
    }),
  )
  const store = new InstanceStore(database)
  const instances = stack.use(
    new InstanceRegistry({
      network,
      instances: store,
      epoch,
      gate: new Gate(connectsAtOnce),
      clock,
      random: Math.random,
      log,
      qrLifetimeMs,
      lifecycle,
      graces: { unreachableMs: config.lifecycle.unreachableGrace, reconnectedMs: config.lifecycle.reconnectedGrace },
      onChange: (name) => {
        outbound().connectionChanged(name)
      },
    }),
  )
  return { instances, store, network }
}

/** The network is there before those who listen to it. */
function receptionBy(inbound: () => Inbound): Reception {
  return {
    onReceived: (...received) => {
      inbound().onReceived(...received)
    },
    onNames: (...names) => {
      inbound().onNames(...names)
    },
    onPairs: (...pairs) => {
      inbound().onPairs(...pairs)
    },
    onPassedOver: (...passed) => {
      inbound().onPassedOver(...passed)
    },
  }
}

type Accounts = ReturnType<typeof createAccounts>
type InboundDeps = Accounts &
  ReturnType<typeof createTenants> & {
    downstream: Downstream
    database: Database
    epoch: () => number
    usage: Usage
    metrics: Metrics
  }

function createDownstream({ config, clock, stack }: Base): Downstream {
  const { timeout: timeoutMs, egressAllow } = config.downstream
  const { mediaMaxBytes } = config.inbound
  return stack.use(new ChatwootDownstream({ clock, timeoutMs, egressAllow, mediaMaxBytes }))
}

function createInbound({ config, clock, log, stack }: Base, parts: InboundDeps) {
  const inboundSet = composeInbound({ ...parts, config, clock, log })
  stack.use(inboundSet.inbound)
  return inboundSet
}

type ServiceParts = Accounts & {
  epoch: () => number
  metrics: Metrics
  inbound: Inbound
  messages: InstanceMessages
  outbound: OutboundSet
}

function createInstances({ clock }: Base, parts: ServiceParts) {
  const { instances, store, network, metrics, epoch, inbound, outbound } = parts
  const messages: InstanceMessages = {
    ...parts.messages,
    forget: async (name) => {
      await outbound.forget(name)
      await parts.messages.forget(name)
    },
  }
  const onDeleted = (name: string) => {
    metrics.removeInstance(name)
  }
  const onChanged = () => {
    inbound.routingChanged()
  }
  const deps = { registry: instances, instances: store, network, epoch, clock, onDeleted, onChanged, messages }
  return { instances, instanceService: new InstanceService(deps) }
}

type NoticeParts = { instances: InstanceRegistry; routing: Routing; downstream: Downstream }

/** Undefined when nobody wants them. */
function createNotices({ config, clock, log, stack }: Base, parts: NoticeParts): HelpdeskNotices | undefined {
  const { instances, routing, downstream } = parts
  const { helpdeskNotices, unreachableGrace } = config.lifecycle
  if (!helpdeskNotices) return undefined
  const inboxOf = async (instance: string) => {
    const record = instances.find(instance)?.record
    const destination = record && (await routing.destinationOf(record))
    return destination ? { key: destination.key, inbox: downstream.inbox(destination) } : null
  }
  const find = (instance: string) => instances.find(instance)
  const texts = noticeTexts[config.inbound.locale]
  const deps = { find, inboxOf, draw: drawQr, texts, unreachableMs: unreachableGrace, clock, log }
  return stack.use(new HelpdeskNotices(deps))
}

function createTenants({ clock, config }: Base, database: Database, onRouting: () => void) {
  const store = new TenantStore(database)
  const tenantCache = new TenantCache({ tenants: store, clock })
  const onChanged = (ownerTag: string) => {
    tenantCache.evict(ownerTag)
    onRouting()
  }
  const tenants = new TenantService({ tenants: store, clock, onChanged })
  const routing = new Routing({ tenants: tenantCache, standard: config.downstream })
  return { tenants, tenantCache, routing, tenantCount: () => store.count() }
}

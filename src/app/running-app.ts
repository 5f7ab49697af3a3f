// The application after its parts are created: the order of its start, what precedes its stop, and its end.
//
// created → serving when start() has resolved: this process owns the accounts, and the routes answer
// serving → stopping with stop(): subscribers are told, and outgoing messages are only queued
// any     → over after disposal

import type { PerInstance } from '../core/per-instance.ts'
import type { HttpApp } from '../http/http-app.ts'
import { listen, listenWhenFree } from '../http/server/listener.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { InstanceRegistry } from '../instances/instance-registry.ts'
import type { Usage } from '../ledger/usage.ts'
import { sleep, systemClock } from '../lib/clock.ts'
import type { Ticker } from '../lib/ticker.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { ProcessEvents } from '../lifecycle/process-events.ts'
import type { AuditStore } from '../storage/stores/ledger/audit-store.ts'
import type { Routing } from '../tenants/routing.ts'
import type { Base } from './base.ts'
import { bootWarnings } from './boot-warnings.ts'
import type { ServingRight } from './nodes/serving-right.ts'
import type { OutboundSet } from './outbound/create-outbound.ts'

type Storage = { ownership: ServingRight; takeOverRows: () => Promise<void>; audit: AuditStore; usage: Usage }

/** How this process comes to its instances and leaves them. */
export type InstanceSupply = {
  /** Called before this process asks for the right to serve. */
  prepare(): Promise<void>
  /** The instances of this process are known afterwards, and every part has taken them; nothing is connected yet. */
  take(): Promise<void>
  /** What was taken connects. */
  boot(): Promise<void>
  /** Resolves when other nodes have the instances, or when no other node takes them. */
  giveAway(): Promise<void>
  /** Whether other nodes serve beside this process. */
  hasPeers(): boolean
  /** Whether other nodes go on serving when this process ends. Those that stop too do not. */
  othersGoOn(): boolean
}

type Parts = {
  base: Omit<Base, 'stack'>
  storage: Storage
  instances: InstanceRegistry
  supply: InstanceSupply
  outbound: Pick<OutboundSet, 'pause'>
  jobs: Pick<Jobs, 'start'>
  lifecycle: Pick<Lifecycle, 'start'>
  processEvents: ProcessEvents
  routing: Pick<Routing, 'storedSecretsOf'>
  workers: readonly Ticker[]
  perInstance: readonly PerInstance[]
  server: HttpApp
  /** Called once when the routes may answer. */
  onServing: () => void
  /** Settles with the reason when the service cannot go on. */
  ended: Promise<Error>
  owned: AsyncDisposableStack
}

export class RunningApp {
  readonly #parts: Parts
  readonly #disposed = new AbortController()
  #url = ''
  #isServing = false
  /** Background work by name, for callers that decide themselves when it runs. */
  readonly workers: ReadonlyMap<string, Ticker>

  constructor(parts: Parts) {
    this.#parts = parts
    this.workers = new Map(parts.workers.map((worker) => [worker.name, worker]))
  }

  /** Where the HTTP server listens; known once start() has resolved. */
  get url(): string {
    return this.#url
  }

  get usage(): Usage {
    return this.#parts.storage.usage
  }

  /** Every part that keeps memory per instance. */
  get perInstance(): readonly PerInstance[] {
    return this.#parts.perInstance
  }

  /** The accounts of this process. */
  get instances(): Pick<InstanceRegistry, 'get'> {
    return this.#parts.instances
  }

  get ended(): Promise<Error> {
    return this.#parts.ended
  }

  /** Resolves when this process owns the accounts and serves. */
  async start(): Promise<void> {
    const { base, storage, instances, supply, lifecycle, processEvents, workers, jobs, server, onServing } = this.#parts
    const { config, clock, log, build } = base
    // A standby on the same machine finds the port taken by the owner, and free once it owns the accounts itself.
    const early = await listen(server, config.http, { tolerateBusy: true })
    await supply.prepare()
    await storage.ownership.acquire()
    await storage.takeOverRows()
    // An owner that stood still has lost the lease and goes on holding the port until it notices.
    const { predecessorMayRun: tolerateBusy } = storage.ownership
    const url = early ?? (await listen(server, config.http, { tolerateBusy }))
    await storage.audit.append({ at: clock.now(), actor: 'system', action: 'backend.boot', target: build.version })
    await supply.take()
    this.#isServing = true
    onServing()
    await lifecycle.start()
    await supply.boot()
    if (!supply.hasPeers()) processEvents.started()
    for (const worker of workers) worker.start()
    jobs.start()
    this.#url =
      url ?? (await listenWhenFree(server, config.http, { clock: systemClock, signal: this.#disposed.signal }))
    await this.#warn()
    log.info({ url: this.#url, version: build.version, instances: instances.counts().total }, 'service ready')
  }

  /**
   * Prepares the end. Sessions stay open for the grace: subscribers prepare, and messages of agents are queued. Where other nodes
   * go on, they take at once what is left, and nothing has to be prepared.
   */
  async stop(): Promise<void> {
    if (!this.#isServing) return
    const { base, instances, supply, outbound, processEvents } = this.#parts
    await supply.giveAway()
    outbound.pause()
    if (supply.othersGoOn()) return
    const graceMs = instances.counts().active > 0 ? base.config.lifecycle.shutdownGrace : 0
    await Promise.all([sleep(base.clock, graceMs), processEvents.restarting()])
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#disposed.abort()
    return this.#parts.owned.disposeAsync()
  }

  async #warn(): Promise<void> {
    const { base, instances, routing } = this.#parts
    for (const warning of await bootWarnings(base.config, instances.records(), routing)) base.log.warn(warning)
  }
}

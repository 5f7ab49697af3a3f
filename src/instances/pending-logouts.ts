// The logouts that WhatsApp has not confirmed yet. They go on after a restart and after the deletion of their instance. The holder of
// an instance carries them out, and the first node those of deleted instances. Each is claimed in the database before its session is
// opened, so two nodes never open the same one.

import type { AuditAction, AuditRecord } from '../core/audit.ts'
import type { InstanceName } from '../core/ids.ts'
import type { AccountNetwork } from '../core/network.ts'
import type { Duties } from '../core/nodes/duties.ts'
import { unlessLost } from '../core/nodes/hold.ts'
import type { NodeHold } from '../core/nodes/hold.ts'
import type { PerInstance } from '../core/per-instance.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { retryUntil } from '../lib/retry.ts'
import { Semaphore } from '../lib/queues/semaphore.ts'
import type { LogoutClaim, PendingLogout, PendingLogoutStore } from '../storage/stores/accounts/pending-logout-store.ts'
import { SessionLogout } from './session-logout.ts'
import type { LogoutEnd } from './session-logout.ts'

// Few, so that linked accounts need not wait for sessions that only leave.
const attemptsAtOnce = 2
// Spreads the first attempts of a start.
const bootSpreadMs = 1000
const pauses = { firstMs: 200, ceilingMs: 5000 }

type Deps = {
  network: Pick<AccountNetwork, 'open' | 'storedJid' | 'release' | 'forget'>
  logouts: Pick<PendingLogoutStore, 'list' | 'listOf' | 'listOfDeleted' | 'claim' | 'release' | 'remove'>
  duties: Pick<Duties, 'held' | 'isFirst'>
  nodeHold: () => NodeHold
  clock: Clock
  random: () => number
  log: Log
}

type Running = { logout: PendingLogout; attempts: SessionLogout; leaving: AbortController; over: Promise<void> }

export class PendingLogouts implements PerInstance {
  readonly #deps: Deps
  readonly #gate = new Semaphore(attemptsAtOnce)
  readonly #stop = new AbortController()
  readonly #running = new Map<string, Running>()
  /** The sessions of deleted instances, among those that are running. */
  #deleted = new Set<string>()
  /** The instances that came and have not left. They may come before the start. */
  readonly #taken = new Set<InstanceName>()
  #isStarted = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get count(): number {
    return this.#running.size
  }

  has(instance: InstanceName): boolean {
    return this.#of(instance).length > 0
  }

  /** From now on logouts are carried out. Goes on with those that the last process left. */
  async start(): Promise<void> {
    const { logouts, duties } = this.#deps
    this.#isStarted = true
    const all = await logouts.list()
    if (duties.held() === 'all') {
      this.#goOn(all)
      return
    }
    this.#goOn(all.filter(({ instance }) => this.#taken.has(instance)))
    await this.takeDeleted()
  }

  /** An instance that is taken before the start needs no read of its own. */
  async take(instance: InstanceName): Promise<void> {
    this.#taken.add(instance)
    if (this.#isStarted) this.#goOn(await this.#deps.logouts.listOf(instance))
  }

  /** Resolves when no session of the instance is open for a logout. */
  async leave(instance: InstanceName): Promise<void> {
    this.#taken.delete(instance)
    await this.#end(this.#of(instance).filter(({ logout }) => !this.#deleted.has(logout.sessionId)))
  }

  /** The logouts of deleted instances. The first node carries them out; a node that is not the first any more ends its attempts. */
  async takeDeleted(): Promise<void> {
    const { logouts, duties } = this.#deps
    if (!this.#isStarted) return
    const found = duties.isFirst() ? await logouts.listOfDeleted() : []
    const before = this.#deleted
    this.#deleted = new Set(found.map(({ sessionId }) => sessionId))
    await this.#end([...this.#running.values()].filter(({ logout }) => this.#isLost(logout, before)))
    this.#goOn(found)
  }

  /** This node may be given up: no session stays open. The attempts go on when the database can be asked for a claim. */
  cutOff(): void {
    for (const { attempts } of this.#running.values()) attempts.cutOff()
  }

  #isLost({ sessionId }: PendingLogout, before: ReadonlySet<string>): boolean {
    return before.has(sessionId) && !this.#deleted.has(sessionId)
  }

  #goOn(logouts: readonly PendingLogout[]): void {
    for (const logout of logouts) this.add(logout, this.#deps.random() * bootSpreadMs)
  }

  async #end(running: readonly Running[]): Promise<void> {
    for (const { leaving } of running) leaving.abort()
    await Promise.all(running.map(({ over }) => over))
  }

  /** Tells the network as soon as possible. The logout must be stored, and the session must be closed. */
  add(logout: PendingLogout, pauseMs = 0): void {
    const { sessionId } = logout
    if (this.#running.has(sessionId)) return
    const leaving = new AbortController()
    const stop = AbortSignal.any([this.#stop.signal, leaving.signal])
    const claim = () => this.#claim(sessionId)
    const attempts = new SessionLogout({ ...this.#deps, gate: this.#gate, claim, stop }, logout)
    const over = attempts
      .run(pauseMs)
      .then(async (end) => {
        if (end) await this.#settle(logout, end, stop)
        if (leaving.signal.aborted) await this.#release(logout)
      })
      .catch((err: unknown) => {
        this.#deps.log.error({ err, instance: logout.instance }, 'a pending logout failed')
      })
      .finally(() => this.#running.delete(sessionId))
    this.#running.set(sessionId, { logout, attempts, leaving, over })
  }

  /** WhatsApp has confirmed the logout: the stored logout and the keys of the session are removed. */
  async finish(
    { sessionId, instance }: PendingLogout,
    audits: readonly AuditRecord[] = [],
    signal: AbortSignal = this.#stop.signal,
  ): Promise<void> {
    const { logouts, network, nodeHold, clock, log } = this.#deps
    const onFailure = (err: unknown) => {
      log.error({ err, instance }, 'the end of a logout could not be stored')
    }
    const removal = () => logouts.remove(nodeHold(), sessionId, audits)
    if (!(await retryUntil({ clock, signal, pauses, onFailure }, removal))) return
    await network.forget({ sessionId, instance, isLeaving: true }).catch((err: unknown) => {
      // Keys without a record are removed within a day.
      log.warn({ err, instance }, 'the keys of an old session could not be removed yet')
    })
  }

  /** Tries all logouts of the instance now. True as soon as none is pending; false when some still are after `ms`. */
  async hurry(instance: InstanceName, ms: number): Promise<boolean> {
    const running = this.#of(instance)
    for (const { attempts } of running) attempts.tryNow()
    const timer = new AbortController()
    await Promise.race([
      Promise.all(running.map(({ over }) => over)),
      sleep(this.#deps.clock, Math.max(0, ms), timer.signal),
    ])
    timer.abort()
    return !this.has(instance) && !this.#stop.signal.aborted
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await Promise.all([...this.#running.values()].map(({ over }) => over))
  }

  #of(instance: InstanceName): Running[] {
    return [...this.#running.values()].filter(({ logout }) => logout.instance === instance)
  }

  async #claim(sessionId: string): Promise<LogoutClaim> {
    return this.#deps.logouts.claim(this.#deps.nodeHold(), sessionId)
  }

  /** Another node is to go on. When this process stops, its claims end with its row among the nodes. */
  async #release({ sessionId, instance }: PendingLogout): Promise<void> {
    const { logouts, nodeHold, clock, log } = this.#deps
    const onFailure = (err: unknown) => {
      log.warn({ err, instance }, 'a logout could not be left to another node yet')
    }
    const release = async () => logouts.release(nodeHold(), sessionId)
    await retryUntil({ clock, signal: this.#stop.signal, pauses, onFailure }, () => unlessLost(release()))
  }

  async #settle(logout: PendingLogout, end: LogoutEnd, stop: AbortSignal): Promise<void> {
    const { log } = this.#deps
    const { instance } = logout
    if (end.kind === 'told') {
      log.info({ instance, reason: end.closing.reason }, 'a pending logout is done')
      await this.finish(logout, [this.#audit('instance.logout_told', logout, end.closing.reason)], stop)
      return
    }
    const { lastFailure } = end
    log.error({ instance, err: lastFailure }, 'a session was not logged out within 30 days')
    await this.finish(logout, [this.#audit('instance.logout_expired', logout, lastFailure)], stop)
  }

  #audit(action: AuditAction, { sessionId, instance, ownerTag }: PendingLogout, reason: string): AuditRecord {
    return {
      at: this.#deps.clock.now(),
      actor: 'system',
      action,
      instance,
      ownerTag,
      target: instance,
      // The end of a logout may be stored more than once.
      key: `${action} ${sessionId}`,
      metadata: { reason },
    }
  }
}

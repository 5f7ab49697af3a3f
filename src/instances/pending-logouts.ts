// The logouts that WhatsApp has not confirmed yet. They go on after a restart and after the deletion of their instance.

import type { AuditAction, AuditRecord } from '../core/audit.ts'
import type { InstanceName } from '../core/ids.ts'
import type { AccountNetwork } from '../core/network.ts'
import type { NodeHold } from '../core/nodes/hold.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { retryUntil } from '../lib/retry.ts'
import { Semaphore } from '../lib/queues/semaphore.ts'
import type { PendingLogout, PendingLogoutStore } from '../storage/stores/accounts/pending-logout-store.ts'
import { SessionLogout } from './session-logout.ts'
import type { LogoutEnd } from './session-logout.ts'

// Few, so that linked accounts need not wait for sessions that only leave.
const attemptsAtOnce = 2
// Spreads the first attempts of a start.
const bootSpreadMs = 1000
const pauses = { firstMs: 200, ceilingMs: 5000 }

type Deps = {
  network: Pick<AccountNetwork, 'open' | 'storedJid' | 'release' | 'forget'>
  logouts: Pick<PendingLogoutStore, 'list' | 'remove'>
  nodeHold: () => NodeHold
  clock: Clock
  random: () => number
  log: Log
}

type Running = { logout: PendingLogout; attempts: SessionLogout; over: Promise<void> }

export class PendingLogouts {
  readonly #deps: Deps
  readonly #gate = new Semaphore(attemptsAtOnce)
  readonly #stop = new AbortController()
  readonly #running = new Map<string, Running>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get count(): number {
    return this.#running.size
  }

  has(instance: InstanceName): boolean {
    return this.#of(instance).length > 0
  }

  /** Goes on with the logouts that the last process left. */
  async load(): Promise<void> {
    const { logouts, random } = this.#deps
    for (const logout of await logouts.list()) this.add(logout, random() * bootSpreadMs)
  }

  /** Tells the network as soon as possible. The logout must be stored, and the session must be closed. */
  add(logout: PendingLogout, pauseMs = 0): void {
    const { sessionId } = logout
    if (this.#running.has(sessionId)) return
    const attempts = new SessionLogout({ ...this.#deps, gate: this.#gate, stop: this.#stop.signal }, logout)
    const over = attempts
      .run(pauseMs)
      .then((end) => end && this.#end(logout, end))
      .catch((err: unknown) => {
        this.#deps.log.error({ err, instance: logout.instance }, 'a pending logout failed')
      })
      .finally(() => this.#running.delete(sessionId))
    this.#running.set(sessionId, { logout, attempts, over })
  }

  /** WhatsApp has confirmed the logout: the stored logout and the keys of the session are removed. */
  async finish({ sessionId, instance }: PendingLogout, audits: readonly AuditRecord[] = []): Promise<void> {
    const { logouts, network, nodeHold, clock, log } = this.#deps
    const onFailure = (err: unknown) => {
      log.error({ err, instance }, 'the end of a logout could not be stored')
    }
    const removal = () => logouts.remove(nodeHold(), sessionId, audits)
    if (!(await retryUntil({ clock, signal: this.#stop.signal, pauses, onFailure }, removal))) return
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

  async #end(logout: PendingLogout, end: LogoutEnd): Promise<void> {
    const { log } = this.#deps
    const { instance } = logout
    if (end.kind === 'told') {
      log.info({ instance, reason: end.closing.reason }, 'a pending logout is done')
      await this.finish(logout, [this.#audit('instance.logout_told', logout, end.closing.reason)])
      return
    }
    const { lastFailure } = end
    log.error({ instance, err: lastFailure }, 'a session was not logged out within 30 days')
    await this.finish(logout, [this.#audit('instance.logout_expired', logout, lastFailure)])
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

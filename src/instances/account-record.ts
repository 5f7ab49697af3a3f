// The record of one account in memory and in storage. Only this class moves its state.

import type { AuditRecord } from '../core/audit.ts'
import { isActive, stepFor } from '../core/instance.ts'
import type { InstanceState, InstanceTrigger } from '../core/instance.ts'
import { lastErrorCodeOf, lastErrorOf, reasonOf } from '../core/last-error.ts'
import type { EventExtras, LifecycleEvent } from '../core/lifecycle/lifecycle.ts'
import type { Hold } from '../core/nodes/hold.ts'
import type { CloseCause, Closing } from '../core/network/closing.ts'
import { writeReason } from '../core/reasons/reason.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { InstanceStore } from '../storage/stores/accounts/instance-store.ts'
import type { InstanceChanges, InstanceRow } from '../storage/stores/accounts/instance-rows.ts'
import { Outage } from './outage.ts'
import type { Graces } from './outage.ts'
import type { Reachability } from './reachability.ts'
import { RecordWriter } from './record-writer.ts'
import type { Companions } from './record-writer.ts'
import { StateLog } from './state-log.ts'
import type { StateListener, Why } from './state-log.ts'

type Deps = {
  instances: Pick<InstanceStore, 'update' | 'put'>
  hold: Hold
  clock: Clock
  log: Log
  lifecycle: Pick<Lifecycle, 'prepare' | 'stored'>
  graces: Graces
  reachability: Pick<Reachability, 'failed' | 'reached' | 'leave'>
  /** Hears of every change of the state. */
  onState?: StateListener | undefined
  onChange: () => void
}

type Along = Pick<Companions, 'audits' | 'logouts'> & { changes?: InstanceChanges; why?: Why }

const unscanned: Closing = { cause: 'pairing_over', code: null, reason: writeReason('unscanned') }

const refusals: ReadonlySet<CloseCause> = new Set(['temporary_ban', 'client_refused', 'replaced'])

export class AccountRecord {
  readonly #deps: Deps
  readonly #row: InstanceRow
  readonly #writer: RecordWriter
  readonly #outage: Outage
  readonly #stateLog: StateLog
  #refusedFor: CloseCause | undefined
  /** The last failure in this process. */
  #lastClosing: Closing | null = null

  constructor(deps: Deps, row: InstanceRow) {
    this.#deps = deps
    this.#row = { ...row }
    this.#stateLog = new StateLog(deps.log, deps.onState)
    this.#writer = new RecordWriter({
      ...deps,
      onAnnounced: (announcements) => {
        deps.lifecycle.stored(announcements)
      },
    })
    this.#outage = new Outage({
      ...deps,
      row: () => this.#row,
      lastReason: () => this.#lastClosing?.reason ?? this.#row.lastError,
      save: (changes) => void this.save(changes),
      announce: this.announce.bind(this),
    })
  }

  get row(): Readonly<InstanceRow> {
    return this.#row
  }

  /** Moves the state by the table, with the changes that go along; a trigger that does not fit changes nothing. */
  apply(trigger: InstanceTrigger, { changes = {}, why, ...companions }: Along = {}): void {
    const { clock, onChange } = this.#deps
    const { state: from, readyAt, name } = this.#row
    const step = stepFor(from, trigger)
    if (!step) return
    const at = clock.now()
    const isFirstReady = step.to === 'ready' && readyAt === null
    void this.save(
      { ...changes, state: step.to, lastEventAt: at, ...(isFirstReady && { readyAt: at, lastQrMessageId: 0 }) },
      companions,
    )
    this.#stateLog.changed({ instance: name, from, to: step.to, trigger }, why)
    if (step.event) this.announce(step.event, typeof why === 'object' ? reasonOf(why) : {})
    if (isFirstReady) this.announce('connected', {})
    this.#follow(trigger, step.to)
    onChange()
  }

  /** Keeps the announcements of outages, and what is known of the network, in step with the state. */
  #follow(trigger: InstanceTrigger, state: InstanceState): void {
    const { reachability } = this.#deps
    const { name, sessionId } = this.#row
    if (isActive(state)) reachability.reached(name)
    if (trigger === 'invalidated' || (trigger === 'window_over' && sessionId === null)) reachability.leave(name)
    if (state === 'ready') this.#outage.ready()
    else if (trigger === 'invalidated' || trigger === 'scanned') this.#outage.forget()
    else if (trigger === 'boot_linked' || trigger === 'boot_banned' || trigger === 'reopen') this.#outage.watch()
  }

  /** A connection is tried: the ban is over, or a caller asked not to wait for its end. */
  attempt(): void {
    if (this.#row.retryAt !== null) void this.save({ retryAt: null })
    this.apply('attempt')
  }

  /** The connection ended and will be tried again; announces what an operator must know. */
  drop(closing: Closing, pauseMs: number | null): void {
    const wasActive = isActive(this.#row.state)
    const extras = reasonOf(closing)
    this.#fail(closing, wasActive)
    this.#stateLog.dropped(closing, wasActive)
    if (closing.cause === 'temporary_ban') {
      // Stored, so that a restart does not try earlier.
      if (pauseMs !== null) void this.save({ retryAt: this.#deps.clock.now() + pauseMs })
      this.announce('strike', extras)
    }
    this.apply('dropped', { why: closing })
    // The next attempt at once shows whether the refusal lasts.
    if (closing.mayRetryNow && pauseMs === 0) return
    // The operator must know of a refusal before the login, too, but only once.
    const refusal = refusals.has(closing.cause) ? closing.cause : undefined
    if (refusal && !wasActive && refusal !== this.#refusedFor) this.announce('disconnected', extras)
    this.#refusedFor = refusal
  }

  /** `hadWorked`: the connection had logged in, or had shown a code. */
  #fail(closing: Closing, hadWorked: boolean): void {
    const { reachability } = this.#deps
    const { name, sessionId, networkProxy } = this.#row
    const { reason, unreachable } = closing
    this.note(hadWorked ? withoutUnreachable(closing) : closing)
    if (unreachable && !hadWorked) {
      reachability.failed(name, { hasSession: sessionId !== null, networkProxy, closing: { reason, unreachable } })
    }
    // The network has answered. Failures without `unreachable` are our own.
    if (closing.cause !== 'transient') reachability.reached(name)
  }

  /** Stores settings, then changes them; rejects when they could not be stored, and then nothing has changed. */
  async change(changes: InstanceChanges, audit: AuditRecord): Promise<void> {
    const { instances, hold } = this.#deps
    await instances.update(hold, changes, { audits: [audit] })
    Object.assign(this.#row, changes)
  }

  /** Stores a change that has happened already. When storage refuses it until the end, the next start sorts it out. */
  async save(changes: InstanceChanges, companions: Companions = {}): Promise<void> {
    Object.assign(this.#row, changes)
    await this.#writer.save(changes, companions).catch((err: unknown) => {
      this.#deps.log.warn({ err, instance: this.#row.name }, 'a change was not stored before the end')
    })
  }

  /** Stores the whole record; the stored one may be missing. */
  saveWhole(): void {
    this.#writer.saveWhole(this.#row)
  }

  /** The clock was put back. The stored times are corrected together with the times of all other tables. */
  correctFutureTimes(): void {
    const now = this.#deps.clock.now()
    const { createdAt, linkedAt, unlinkedAt } = this.#row
    this.#row.createdAt = Math.min(createdAt, now)
    if (linkedAt !== null) this.#row.linkedAt = Math.min(linkedAt, now)
    if (unlinkedAt !== null) this.#row.unlinkedAt = Math.min(unlinkedAt, now)
  }

  /** Resolves when everything saved so far is stored. */
  stored(): Promise<void> {
    return this.#writer.settled()
  }

  /** From now on each write is tried once. */
  giveUp(): void {
    this.#writer.giveUp()
  }

  /** Stores the last failure for the operator; null when there is none. */
  note(closing: Closing | null): void {
    const changes = closing ? lastErrorOf(closing) : { lastError: null, lastErrorCode: null }
    this.#lastClosing = closing
    const { lastError, lastErrorCode } = this.#row
    if (lastError !== changes.lastError || lastErrorCode !== changes.lastErrorCode) void this.save(changes)
  }

  /** A connection for a pairing failed and is tried again. `wasOffered`: it has shown a code. */
  pairingFailed(closing: Closing, wasOffered: boolean): void {
    if (this.#row.sessionId === null) this.#fail(closing, wasOffered)
    else this.note(wasOffered ? withoutUnreachable(closing) : closing)
  }

  /** The network has sent a code to scan. */
  codeShown(): void {
    this.note(null)
    // Only the stored session shows whether an account that has one can connect.
    if (this.#row.sessionId === null) this.#deps.reachability.reached(this.#row.name)
  }

  /** The pairing ended unscanned. A failure that ended it says more than that no phone scanned a code. */
  pairingOver(): void {
    if (this.#row.state !== 'qr_pending') return
    const why = this.#lastClosing ?? unscanned
    this.note(why)
    this.apply('window_over', { why })
  }

  /** A pairing ended because the network refused it. The session of the account, if it has one, is not concerned. */
  refusePairing(closing: Closing): void {
    this.#tell('disconnected', { ...reasonOf(closing), error_code: lastErrorCodeOf(closing) })
  }

  /** The event is stored together with the changes of the same step. */
  announce(event: LifecycleEvent, extras: EventExtras): void {
    if (event === 'disconnected') this.#outage.began(extras)
    this.#tell(event, extras)
  }

  #tell(event: LifecycleEvent, extras: EventExtras): void {
    const announcement = this.#deps.lifecycle.prepare(this.#row, event, extras)
    this.#writer.save({}, { announcements: [announcement] }).catch((err: unknown) => {
      this.#deps.log.warn({ err, instance: this.#row.name, event }, 'an event was not stored before the end')
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#outage.stop()
    await this.#writer[Symbol.asyncDispose]()
  }
}

/** The end of a connection that worked says nothing about whether the network can be reached. */
function withoutUnreachable(closing: Closing): Closing {
  const plain = { ...closing }
  delete plain.unreachable
  return plain
}

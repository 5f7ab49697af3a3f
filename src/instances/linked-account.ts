// One linked account: its record, its link with the network, and the commands on it.
//
// States and what moves between them are the table in core/instance.ts. Commands run one after the other; signals of the
// network are applied at once. After a start the commands wait for the boot, which opens the stored session.

import type { AuditRecord, Caller } from '../core/audit.ts'
import { BridgeError } from '../core/errors.ts'
import { isActive } from '../core/instance.ts'
import type { InstanceState } from '../core/instance.ts'
import type { EventExtras, LifecycleEvent } from '../core/lifecycle/lifecycle.ts'
import type { NetworkSession, PairingCode } from '../core/network.ts'
import type { Hold } from '../core/nodes/hold.ts'
import { orAbort } from '../lib/abort.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import { Lane } from '../lib/queues/lane.ts'
import { retryUntil } from '../lib/retry.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { InstanceChanges, InstanceRow } from '../storage/stores/accounts/instance-rows.ts'
import { AccountLink } from './account-link.ts'
import type { LinkDeps } from './account-link.ts'
import { AccountRecord } from './account-record.ts'
import type { Graces } from './outage.ts'
import type { Qr } from './pairing-slot.ts'
import type { Reachability } from './reachability.ts'
import type { StateListener } from './state-log.ts'

const pauses = { firstMs: 200, ceilingMs: 5000 }

export type AccountDeps = LinkDeps & {
  lifecycle: Pick<Lifecycle, 'prepare' | 'stored'>
  graces: Graces
  reachability: Pick<Reachability, 'failed' | 'reached' | 'leave'>
  /** Hears of every change of the state. */
  onState?: StateListener | undefined
}

/** What became of a logout: `told` when WhatsApp has confirmed it within 5 s, `pending` when it has not confirmed it yet. */
export type LogoutOutcome = 'no_session' | 'told' | 'pending'

export class LinkedAccount {
  readonly #deps: AccountDeps
  readonly #account: AccountRecord
  readonly #link: AccountLink
  readonly #commands = new Lane()
  readonly #closed = new AbortController()
  readonly #bootAsked = Promise.withResolvers<number | null>()
  /** The boot that the commands wait for. */
  #booting: Promise<void> | undefined

  constructor(deps: AccountDeps, record: InstanceRow) {
    this.#deps = deps
    this.#account = new AccountRecord(deps, record)
    this.#link = new AccountLink({
      ...deps,
      account: this.#account,
      inTurn: this.#follow.bind(this),
      isClosed: () => this.#isClosed(),
    })
  }

  /** The right under which this account writes. */
  get hold(): Hold {
    return this.#deps.hold
  }

  get record(): Readonly<InstanceRow> {
    return this.#account.row
  }

  get state(): InstanceState {
    return this.record.state
  }

  get qr(): Qr | null {
    return this.#link.pairing.qr
  }

  get reconnectAttempts(): number {
    return this.#link.connection.failures
  }

  /** For sending; only while the account is ready. */
  get session(): NetworkSession | undefined {
    return this.state === 'ready' ? this.#link.connection.session : undefined
  }

  /** One more outgoing message was blocked as spam; returns how many there are now. */
  countSpamBlock(): number {
    const spamguardBlocks = this.record.spamguardBlocks + 1
    void this.#account.save({ spamguardBlocks })
    return spamguardBlocks
  }

  /** Announces an event of this account that another room noticed. */
  announce(event: LifecycleEvent, extras: EventExtras): void {
    this.#account.announce(event, extras)
  }

  /** For questions to the network, which need not wait until the backlog is received. */
  get openSession(): NetworkSession | undefined {
    return isActive(this.state) ? this.#link.connection.session : undefined
  }

  /** The commands that follow wait until `work` has succeeded. A failure is repeated until the account closes. */
  prepare(work: () => Promise<void>): void {
    const { clock, log } = this.#deps
    const onFailure = (err: unknown) => {
      log.error({ err, instance: this.record.name }, 'an instance cannot be taken up yet')
    }
    void this.#commands.run(() => retryUntil({ clock, signal: this.#closed.signal, pauses, onFailure }, work))
  }

  /** The commands that follow wait for the boot: a command that comes first would open a connection beside that of the boot. */
  awaitBoot(): void {
    this.#booting = this.#commands.run(async () => {
      const pauseMs = await orAbort(this.#bootAsked.promise, this.#closed.signal)
      if (pauseMs !== null) await this.#link.boot(pauseMs)
    })
    // The caller of boot() hears of a failure. An account that is closed before needs no boot.
    this.#booting.catch(ignoreRejection)
  }

  /** The request that created the instance opens it, so the commands wait for no boot. */
  forgoBoot(): void {
    this.#bootAsked.resolve(null)
    this.#booting = undefined
  }

  /** Goes on with the session or the pairing of the last process, unless a session or a pairing is open. */
  boot(pauseMs: number): Promise<void> {
    if (!this.#booting) return this.#inTurn(() => this.#link.boot(pauseMs))
    this.#bootAsked.resolve(pauseMs)
    return this.#booting
  }

  /** Goes on after a removal that failed, as soon as storage answers: the stored record may be missing. */
  resurrect(): void {
    this.#account.saveWhole()
    this.prepare(() => this.#link.boot(0))
  }

  /** This node may be given up by others soon: the connection ends at once, and is opened again when the network allows it. */
  cutOff(): void {
    this.#link.cutOff()
  }

  /** This node is what it was: the next attempt to connect comes at once. */
  goOn(): void {
    this.#link.goOn()
  }

  /** The clock was put back. */
  correctFutureTimes(): void {
    this.#account.correctFutureTimes()
  }

  /** Changes settings; resolves when they are stored. With another proxy, the account connects again at once. */
  async change(changes: InstanceChanges, audit: AuditRecord): Promise<void> {
    const { networkProxy: before } = this.record
    await this.#account.change(changes, audit)
    if (this.record.networkProxy === before) return
    await this.#commands.run(async () => {
      if (!this.#isClosed()) await this.#link.followProxy()
    })
  }

  /** Which message at the helpdesk shows the QR code. */
  keepQrMessage(id: number): Promise<void> {
    return this.#account.save({ lastQrMessageId: id })
  }

  /** Opens a new pairing in the states that allow one; does nothing in the others. */
  requestPairing(): Promise<void> {
    return this.#inTurn(() => this.#pair())
  }

  /** What POST with an existing name asks for: connect when that can work, else pair. */
  requestReady(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.state === 'disconnected' && this.#link.connection.isOpen) this.#link.tryNow()
      else await this.#pair()
    })
  }

  /** True when there was something to restart. */
  restart(): Promise<boolean> {
    return this.#inTurn(async () => {
      if (this.state === 'qr_pending') await this.#link.pairing.open()
      else if (this.record.sessionId === null) return false
      else await this.#link.reopen()
      return true
    })
  }

  /** Whether there is a logout that WhatsApp has not confirmed yet. The phone may still list the device. */
  get isLogoutPending(): boolean {
    return this.#deps.pendingLogouts.has(this.record.name)
  }

  /** Logs the session out, and tries logouts that are pending now. */
  logout(actor: Caller): Promise<LogoutOutcome> {
    return this.#inTurn(async () => {
      const hasSession = this.record.sessionId !== null
      if (!hasSession && !this.isLogoutPending) return 'no_session'
      const isTold = hasSession ? await this.#link.logout(actor) : await this.#link.hurryLogouts()
      return isTold ? 'told' : 'pending'
    })
  }

  /** Undefined when no pairing is open. */
  requestPairingCode(phone: string): Promise<PairingCode> | undefined {
    return this.#link.pairing.requestCode(phone)
  }

  /** Ends everything, without waiting for storage that is away; the next start sorts out what it finds. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#account.giveUp()
    await this.close()
  }

  /** Ends everything and stores it; the session stays valid and can be taken up again. */
  async close(): Promise<void> {
    this.#closed.abort()
    await this.#commands.idle()
    await this.#link.close()
    await this.#account[Symbol.asyncDispose]()
  }

  async #pair(): Promise<void> {
    const { state } = this
    if (state === 'logged_out' || state === 'qr_pending' || state === 'disconnected') await this.#link.pairing.open()
  }

  #isClosed(): boolean {
    return this.#closed.signal.aborted
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#commands.run(() => {
      if (!this.#isClosed()) return work()
      const { name } = this.record
      throw new BridgeError('SERVICE_INSTANCE_NOT_FOUND', `the instance ${JSON.stringify(name)} is being removed`)
    })
  }

  /** For what the network causes: a failure has no caller that could hear of it. */
  #follow(work: () => Promise<void>): void {
    const run = () => (this.#isClosed() ? Promise.resolve() : work())
    this.#commands.run(run).catch((err: unknown) => {
      this.#deps.log.error({ err, instance: this.record.name }, 'an instance could not follow the network')
    })
  }
}

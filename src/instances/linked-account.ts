// The life of one linked account: its record, its connection and its pairing.
//
// States and what moves between them are the table in core/instance.ts. A pairing can be open beside a stored session;
// whichever succeeds first ends the other. Commands run one after the other; what the network says is applied at once.

import type { AuditRecord } from '../core/audit.ts'
import { BridgeError } from '../core/errors.ts'
import { isActive } from '../core/instance.ts'
import type { InstanceState } from '../core/instance.ts'
import type { EventExtras, LifecycleEvent } from '../core/lifecycle.ts'
import type { AccountNetwork, Closing, NetworkSession, PairingCode } from '../core/network.ts'
import type { Clock } from '../lib/clock.ts'
import type { Semaphore } from '../lib/semaphore.ts'
import { Lane } from '../lib/lane.ts'
import type { Log } from '../lib/log.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { InstanceStore } from '../storage/stores/accounts/instance-store.ts'
import type { InstanceChanges, InstanceRow } from '../storage/schema.ts'
import { AccountRecord, reasonOf } from './account-record.ts'
import { Connection } from './connection.ts'
import type { Graces } from './outage.ts'
import { PairingSlot } from './pairing-slot.ts'
import type { Qr } from './pairing-slot.ts'
import { SessionHandover } from './session-handover.ts'

// After this long a reconnect that was asked for counts as failed, and a pairing opens beside it.
const reconnectPatienceMs = 10_000

export type AccountDeps = {
  network: AccountNetwork
  instances: InstanceStore
  epoch: () => number
  gate: Semaphore
  clock: Clock
  random: () => number
  log: Log
  qrLifetimeMs: number
  lifecycle: Pick<Lifecycle, 'prepare' | 'stored'>
  graces: Graces
  /** Told after every change of state or QR code. */
  onChange: () => void
}

export class LinkedAccount {
  readonly #deps: AccountDeps
  readonly #account: AccountRecord
  readonly #sessions: SessionHandover
  readonly #desk: PairingSlot
  readonly #commands = new Lane()
  #connection: Connection | undefined
  #cancelPatience: (() => void) | undefined
  #closed = false

  constructor(deps: AccountDeps, record: InstanceRow) {
    this.#deps = deps
    this.#account = new AccountRecord(deps, record)
    this.#sessions = new SessionHandover({ ...deps, account: this.#account })
    this.#desk = new PairingSlot({
      ...deps,
      account: this.#account,
      scanned: (sessionId, jid) => {
        this.#command(() => this.#adopt(sessionId, jid))
      },
      ended: (sessionId) => {
        this.#command(() => this.#afterPairing(sessionId))
      },
      forget: (sessionId) => this.#sessions.forget(sessionId),
    })
  }

  get record(): Readonly<InstanceRow> {
    return this.#account.row
  }

  get state(): InstanceState {
    return this.record.state
  }

  get qr(): Qr | null {
    return this.#desk.qr
  }

  get reconnectAttempts(): number {
    return this.#connection?.failures ?? 0
  }

  /** What to send with; only while the account is ready. */
  get session(): NetworkSession | undefined {
    return this.state === 'ready' ? this.#connection?.session : undefined
  }

  /** One more outgoing message was held back as spam; how many there are now. */
  countSpamBlock(): number {
    const spamguard_blocks = this.record.spamguard_blocks + 1
    void this.#account.save({ spamguard_blocks })
    return spamguard_blocks
  }

  /** For what others have to tell of this account. */
  announce(event: LifecycleEvent, extras: EventExtras): void {
    this.#account.announce(event, extras)
  }

  /** For questions to the network, which need not wait until everything has been caught up with. */
  get openSession(): NetworkSession | undefined {
    return isActive(this.state) ? this.#connection?.session : undefined
  }

  /** Takes up what the last process left: a pairing that was scanned, a stored session, or nothing. */
  boot(pauseMs: number): Promise<void> {
    return this.#inTurn(async () => {
      const { pairing_session_id: staged } = this.record
      const jid = staged === null ? null : await this.#deps.network.storedJid(staged)
      if (staged !== null && jid !== null) await this.#adopt(staged, jid)
      await this.#desk.close()
      if (this.record.session_id === null) this.#account.apply('boot_unlinked')
      else this.#reconnect(pauseMs)
    })
  }

  /** Goes on after a removal that failed: whether the record is still stored, and as what, is not known. */
  async resurrect(): Promise<void> {
    this.#account.saveWhole()
    await this.boot(0)
  }

  /** Changes settings; resolves when they are stored. */
  change(changes: InstanceChanges, audit: AuditRecord): Promise<void> {
    return this.#account.change(changes, audit)
  }

  /** Which message at the helpdesk shows the QR code. */
  keepQrMessage(id: number): Promise<void> {
    return this.#account.save({ last_qr_msg_id: id })
  }

  /** A new QR code where the state allows one; elsewhere nothing happens. */
  requestPairing(): Promise<void> {
    return this.#inTurn(async () => {
      const { state } = this
      if (state === 'logged_out' || state === 'qr_pending' || state === 'disconnected') await this.#desk.open()
    })
  }

  /** What POST with an existing name asks for: connect when that can work, else pair. */
  async requestReady(): Promise<void> {
    if (this.state !== 'disconnected' || !this.#connection) {
      await this.requestPairing()
      return
    }
    this.#connection.tryNow()
    this.#cancelPatience?.()
    this.#cancelPatience = this.#deps.clock.after(reconnectPatienceMs, () => {
      this.#command(async () => {
        if (this.#connection && !isActive(this.state) && !this.#desk.isOpen) await this.#desk.open()
      })
    })
  }

  /** True when there was something to restart. */
  restart(): Promise<boolean> {
    return this.#inTurn(async () => {
      if (this.state === 'qr_pending') await this.#desk.open()
      else if (this.record.session_id === null) return false
      else if (this.#connection) {
        this.#connection.reopen()
        this.#account.apply('reopen')
      } else {
        // Scanned, and the network has not let go of the pairing yet: it need not be waited for.
        await this.#desk.close()
        this.#connect(0)
      }
      return true
    })
  }

  /** True when there was a session to log out. */
  logout(): Promise<boolean> {
    return this.#inTurn(async () => {
      const linked = this.record.session_id !== null
      if (linked) {
        await this.#desk.close()
        await this.#connection?.logout().catch((err: unknown) => {
          this.#deps.log.warn({ err, instance: this.record.name }, 'the network could not be told of the logout')
        })
        await this.#invalidate({ cause: 'invalidated', code: null, reason: 'logged out on request' })
      }
      return linked
    })
  }

  /** Undefined when no pairing is open. */
  requestPairingCode(phone: string): Promise<PairingCode> | undefined {
    return this.#desk.requestCode(phone)
  }

  /** Ends everything, without waiting for storage that is away; the next start sorts out what it finds. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#account.giveUp()
    await this.close()
  }

  /** Ends everything and stores it; the session stays valid and can be taken up again. */
  async close(): Promise<void> {
    this.#closed = true
    this.#cancelPatience?.()
    await this.#commands.idle()
    await this.#desk.stop()
    await this.#connection?.[Symbol.asyncDispose]()
    await this.#account[Symbol.asyncDispose]()
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#commands.run(() => {
      if (!this.#closed) return work()
      const { name } = this.record
      throw new BridgeError('SERVICE_INSTANCE_NOT_FOUND', `the instance ${JSON.stringify(name)} is being removed`)
    })
  }

  /** For what the network causes: runs in turn, and a failure is nobody's answer. */
  #command(work: () => Promise<void>): void {
    const run = () => (this.#closed ? Promise.resolve() : work())
    this.#commands.run(run).catch((err: unknown) => {
      this.#deps.log.error({ err, instance: this.record.name }, 'an instance could not follow the network')
    })
  }

  async #adopt(sessionId: string, jid: string): Promise<void> {
    const superseded = this.#sessions.adopt(sessionId, jid)
    // From here on the session before has no say any more.
    await this.#disconnect()
    await this.#sessions.forget(superseded)
  }

  async #afterPairing(sessionId: string): Promise<void> {
    if (this.#desk.isOpen) return
    await this.#desk.close()
    this.#account.apply('window_over')
    if (this.record.session_id === sessionId && !this.#connection) this.#connect(0)
  }

  /** A ban that has not ended yet is waited for: an earlier try would be one more strike. */
  #reconnect(pauseMs: number): void {
    const banMs = (this.record.retry_at ?? 0) - this.#deps.clock.now()
    this.#account.apply(banMs > 0 ? 'boot_banned' : 'boot_linked')
    this.#connect(Math.max(pauseMs, banMs))
  }

  #connect(pauseMs: number): void {
    const { session_id: sessionId, name } = this.record
    if (sessionId === null || this.#closed) return
    // What a connection says that has been given up no longer counts: the session may be another one by now.
    const current =
      <Args extends unknown[]>(follow: (...args: Args) => void) =>
      (...args: Args) => {
        if (this.#connection === connection) follow(...args)
      }
    const connection = new Connection({
      ...this.#deps,
      instance: name,
      sessionId,
      events: {
        attempt: current(() => {
          this.#account.attempt()
        }),
        drained: current(() => {
          this.#account.apply('drained')
        }),
        reopening: current(() => {
          this.#account.apply('reopen')
        }),
        authenticated: current(this.#authenticated.bind(this)),
        dropped: current((closing, pauseMs) => {
          this.#account.drop(closing, pauseMs)
        }),
        invalidated: (closing) => {
          this.#command(async () => {
            if (this.#connection === connection) await this.#refused(closing)
          })
        },
      },
    })
    this.#connection = connection
    connection.start(pauseMs)
  }

  async #disconnect(): Promise<void> {
    const connection = this.#connection
    this.#connection = undefined
    this.#cancelPatience?.()
    await connection?.[Symbol.asyncDispose]()
  }

  #authenticated(): void {
    this.#cancelPatience?.()
    this.#account.note(null)
    const removeReplaced = this.#sessions.prove()
    this.#account.apply('authenticated')
    if (removeReplaced) this.#command(removeReplaced)
    // The stored session won: a pairing beside it has nothing left to do.
    if (this.#desk.isOpen) this.#command(() => this.#desk.close())
  }

  async #refused(closing: Closing): Promise<void> {
    if (closing.cause === 'banned') this.#account.announce('strike', reasonOf(closing))
    if (!(await this.#sessions.revert(closing))) {
      await this.#invalidate(closing)
      return
    }
    await this.#disconnect()
    if (this.#desk.isOpen) this.#account.apply('pair')
    this.#connect(0)
  }

  async #invalidate(closing: Closing): Promise<void> {
    const worthless = this.#sessions.end(closing)
    // Somebody may be about to scan: a pairing that is open stays open.
    if (this.#desk.isOpen) this.#account.apply('pair')
    await this.#disconnect()
    await this.#sessions.forget(...worthless)
  }
}

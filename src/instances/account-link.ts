// The link of one account with the network: its stored session, its connection and its pairing, and what each of them
// does to the others. A pairing can be open beside a stored session; the one that succeeds first ends the other.

import type { Caller } from '../core/audit.ts'
import type { Jid } from '../core/ids.ts'
import { isActive } from '../core/instance.ts'
import { reasonOf } from '../core/last-error.ts'
import type { AccountNetwork } from '../core/network.ts'
import type { Hold } from '../core/nodes/hold.ts'
import type { Closing } from '../core/network/closing.ts'
import { writeReason } from '../core/reasons/reason.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Semaphore } from '../lib/queues/semaphore.ts'
import type { InstanceStore } from '../storage/stores/accounts/instance-store.ts'
import type { AccountRecord } from './account-record.ts'
import { ConnectionSlot } from './connection-slot.ts'
import { PairingSlot } from './pairing-slot.ts'
import type { PendingLogouts } from './pending-logouts.ts'
import { SessionHandover } from './session-handover.ts'

// After this long a reconnect that was asked for counts as failed, and a pairing opens beside it.
const reconnectPatienceMs = 10_000
// After this long the caller is answered that WhatsApp has not confirmed the logout yet.
const logoutPatienceMs = 5000

const pairingStopped: Closing = { cause: 'pairing_over', code: null, reason: writeReason('pairingStopped') }
const pairingGoesOn = 'the pairing that is open goes on'

export type LinkDeps = {
  network: AccountNetwork
  instances: InstanceStore
  pendingLogouts: Pick<PendingLogouts, 'add' | 'finish' | 'hurry' | 'has'>
  hold: Hold
  gate: Semaphore
  clock: Clock
  random: () => number
  log: Log
  qrLifetimeMs: number
  /** False while the import of history is switched off: then no phone is asked for its history. */
  asksHistory: boolean
  /** Called after every change of state or QR code. */
  onChange: () => void
}

type Deps = LinkDeps & {
  account: AccountRecord
  /** Runs what the network causes after the commands before it; does nothing once the account is closed. */
  inTurn: (work: () => Promise<void>) => void
  isClosed: () => boolean
}

export class AccountLink {
  readonly #deps: Deps
  readonly #sessions: SessionHandover
  readonly connection: ConnectionSlot
  readonly pairing: PairingSlot
  #cancelPatience: (() => void) | undefined

  constructor(deps: Deps) {
    this.#deps = deps
    const { inTurn } = deps
    this.#sessions = new SessionHandover(deps)
    this.connection = new ConnectionSlot({
      ...deps,
      authenticated: this.#authenticated.bind(this),
      refused: (closing, isCurrent) => {
        inTurn(async () => {
          if (isCurrent()) await this.#refused(closing)
        })
      },
    })
    this.pairing = new PairingSlot({
      ...deps,
      scanned: (sessionId, jid, historyDays) => {
        inTurn(() => this.#adopt(sessionId, jid, historyDays))
      },
      ended: (sessionId) => {
        inTurn(() => this.#afterPairing(sessionId))
      },
      forget: (sessionId) => this.#sessions.forget(sessionId),
    })
  }

  /**
   * Goes on with what the last process left: a pairing that was scanned, a stored session, or nothing. What this process has
   * opened already stays as it is: a second connection of the session would end the first.
   */
  async boot(pauseMs: number): Promise<void> {
    if (this.connection.isOpen || this.pairing.isOpen) return
    const { account, network, clock } = this.#deps
    const { name: instance, pairingSessionId: staged } = account.row
    const jid = staged === null ? null : await network.storedJid({ sessionId: staged, instance })
    if (staged !== null && jid !== null) await this.#adopt(staged, jid, this.pairing.historyDays)
    await this.pairing.close()
    if (account.row.sessionId === null) {
      if (account.row.state === 'qr_pending') account.note(pairingStopped)
      account.apply('boot_unlinked')
      return
    }
    // Waits for the end of a ban: an earlier attempt would be one more strike.
    const banMs = (account.row.retryAt ?? 0) - clock.now()
    account.apply(banMs > 0 ? 'boot_banned' : 'boot_linked')
    this.#connect(Math.max(pauseMs, banMs))
  }

  /** Connects now; a pairing opens beside the stored session when that takes too long. */
  tryNow(): void {
    const { account, clock, inTurn } = this.#deps
    this.connection.tryNow()
    this.#cancelPatience?.()
    this.#cancelPatience = clock.after(reconnectPatienceMs, () => {
      inTurn(async () => {
        if (this.connection.isOpen && !isActive(account.row.state) && !this.pairing.isOpen) await this.pairing.open()
      })
    })
  }

  /** Opens the stored session again. */
  async reopen(): Promise<void> {
    if (this.connection.isOpen) {
      this.connection.reopen()
      this.#deps.account.apply('reopen')
      return
    }
    // Scanned, and the network has not closed the pairing yet: there is no need to wait for that.
    await this.pairing.close()
    this.#connect(0)
  }

  /** The proxy is another one: an open pairing and the stored session are opened again, through the new proxy. */
  async followProxy(): Promise<void> {
    if (this.pairing.isOpen) await this.pairing.open()
    if (this.connection.renew()) this.#deps.account.apply('reopen', { why: 'the proxy of the instance changed' })
  }

  /** The session is worthless; its keys are removed. */
  async end(closing: Closing): Promise<void> {
    const worthless = this.#sessions.end(closing)
    // The owner of the phone may be about to scan: a pairing that is open stays open.
    if (this.pairing.isOpen) this.#deps.account.apply('pair', { why: pairingGoesOn })
    await this.#disconnect()
    await this.#sessions.forget(...worthless)
  }

  /** Gives the session up on request. True when WhatsApp has confirmed the logout within 5 s. */
  async logout(actor: Caller): Promise<boolean> {
    const { account, pendingLogouts, clock } = this.#deps
    const giveUpAt = clock.monotonic() + logoutPatienceMs
    await this.pairing.close()
    const [current, previous] = this.#sessions.leave(actor)
    this.#cancelPatience?.()
    const isTold = await this.connection.leave(logoutPatienceMs)
    await account.stored()
    if (previous) pendingLogouts.add(previous)
    if (current && isTold) await pendingLogouts.finish(current)
    else if (current) pendingLogouts.add(current)
    return this.hurryLogouts(giveUpAt - clock.monotonic())
  }

  /** Tries logouts that are pending now. True when none is pending any more. */
  hurryLogouts(patienceMs = logoutPatienceMs): Promise<boolean> {
    const { account, pendingLogouts } = this.#deps
    return pendingLogouts.hurry(account.row.name, patienceMs)
  }

  cutOff(): void {
    this.connection.cutOff()
    this.pairing.cutOff()
  }

  goOn(): void {
    this.connection.goOn()
  }

  /** Closes both; what is stored stays for the next start. */
  async close(): Promise<void> {
    await this.pairing.stop()
    await this.#disconnect()
  }

  async #adopt(sessionId: string, jid: Jid, historyDays: number | null): Promise<void> {
    const superseded = this.#sessions.adopt(sessionId, jid, historyDays)
    // From here on the session before no longer counts.
    await this.#disconnect()
    await this.#sessions.forget(superseded)
  }

  async #afterPairing(sessionId: string): Promise<void> {
    const { account } = this.#deps
    if (this.pairing.isOpen) return
    await this.pairing.close()
    account.pairingOver()
    if (account.row.sessionId === sessionId && !this.connection.isOpen) this.#connect(0)
  }

  #connect(pauseMs: number): void {
    if (!this.#deps.isClosed()) this.connection.open(pauseMs)
  }

  async #disconnect(): Promise<void> {
    this.#cancelPatience?.()
    await this.connection.close()
  }

  #authenticated(): void {
    const { account, inTurn } = this.#deps
    this.#cancelPatience?.()
    account.note(null)
    const removeReplaced = this.#sessions.prove()
    account.apply('authenticated')
    if (removeReplaced) inTurn(removeReplaced)
    // The stored session came first: the pairing beside it is not needed any more.
    if (this.pairing.isOpen) inTurn(() => this.pairing.close())
  }

  async #refused(closing: Closing): Promise<void> {
    const { account } = this.#deps
    if (closing.cause === 'banned') account.announce('strike', reasonOf(closing))
    if (!(await this.#sessions.revert(closing))) {
      await this.end(closing)
      return
    }
    await this.#disconnect()
    if (this.pairing.isOpen) account.apply('pair', { why: pairingGoesOn })
    this.#connect(0)
  }
}

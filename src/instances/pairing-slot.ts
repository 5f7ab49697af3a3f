// The pairing of one account: at most one is open, under a session id of its own that is stored before the first code.

import { randomUUID } from 'node:crypto'
import type { Jid } from '../core/ids.ts'
import type { Network, PairingCode } from '../core/network.ts'
import type { Clock } from '../lib/clock.ts'
import type { Semaphore } from '../lib/queues/semaphore.ts'
import type { Log } from '../lib/log.ts'
import type { AccountRecord } from './account-record.ts'
import { Pairing } from './pairing.ts'

const qrCodesPerPairing = 6
// The network sends all codes at once. The time to connect comes on top of their lifetimes.
const pairingSlackMs = 15_000

export type Qr = { text: string; generatedAt: number; lifetimeMs: number }

type Deps = {
  account: AccountRecord
  network: Pick<Network, 'open'>
  gate: Semaphore
  clock: Clock
  random: () => number
  log: Log
  qrLifetimeMs: number
  asksHistory: boolean
  onChange: () => void
  /** `historyDays`: for how many days the phone was asked for its history; null when it was not asked. */
  scanned: (sessionId: string, jid: Jid, historyDays: number | null) => void
  /** The pairing has ended: scanned and closed by the network, or over without a scan. */
  ended: (sessionId: string) => void
  forget: (sessionId: string) => Promise<void>
}

export class PairingSlot {
  readonly #deps: Deps
  #pairing: Pairing | undefined
  #qr: Qr | null = null

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get isOpen(): boolean {
    return this.#pairing !== undefined
  }

  /** The code to scan, while one is valid. */
  get qr(): Qr | null {
    return this.#qr
  }

  /** For how many days a pairing that opens now asks the phone for its history; null: the pairing does not ask. */
  get historyDays(): number | null {
    const { account, asksHistory } = this.#deps
    const { isHistoryEnabled, historyDays } = account.row
    return asksHistory && isHistoryEnabled ? historyDays : null
  }

  requestCode(phone: string): Promise<PairingCode> | undefined {
    return this.#pairing?.requestCode(phone)
  }

  /** Opens a new pairing; one that was open is given up, unless it has just been scanned. */
  async open(): Promise<void> {
    await this.close()
    if (this.isOpen) return
    const { account, scanned, qrLifetimeMs, onChange } = this.#deps
    const sessionId = randomUUID()
    account.apply('pair')
    // Stored before a code is shown: a crash right after the scan finds the linked session under this id.
    await account.save({ pairingSessionId: sessionId })
    // The stored session may have come back meanwhile.
    if (account.row.state !== 'qr_pending') {
      await this.close()
      return
    }
    const { historyDays } = this
    this.#pairing = new Pairing({
      ...this.#deps,
      instance: account.row.name,
      sessionId,
      networkProxy: () => account.row.networkProxy,
      historyDays,
      windowMs: qrCodesPerPairing * qrLifetimeMs + pairingSlackMs,
      events: {
        qr: this.#show.bind(this),
        failed: (closing) => {
          const wasOffered = this.#qr !== null
          // The codes are valid only while the connection lasts.
          this.#qr = null
          account.pairingFailed(closing, wasOffered)
          onChange()
        },
        refused: account.refusePairing.bind(account),
        scanned: (jid) => {
          this.#qr = null
          scanned(sessionId, jid, historyDays)
        },
        finished: () => {
          this.#leave(sessionId)
        },
        over: () => {
          this.#leave(sessionId)
        },
      },
    })
    this.#pairing.start()
  }

  /** Closes the pairing and removes its stored session; a pairing that was scanned and is not adopted yet stays. */
  async close(): Promise<void> {
    const { account, forget } = this.#deps
    const { pairingSessionId: staged } = account.row
    if (this.#pairing?.isScanned && this.#pairing.sessionId === staged) return
    await this.stop()
    if (staged === null) return
    await account.save({ pairingSessionId: null })
    await forget(staged)
  }

  cutOff(): void {
    this.#pairing?.cutOff()
  }

  /** Closes the pairing and leaves its stored session for the next start. */
  async stop(): Promise<void> {
    const pairing = this.#pairing
    this.#pairing = undefined
    this.#qr = null
    await pairing?.[Symbol.asyncDispose]()
  }

  /** A pairing that has ended by itself needs no closing. */
  #leave(sessionId: string): void {
    if (this.#pairing?.sessionId !== sessionId) return
    this.#pairing = undefined
    this.#qr = null
    this.#deps.ended(sessionId)
  }

  #show(text: string): void {
    const { account, clock, qrLifetimeMs, onChange } = this.#deps
    this.#qr = { text, generatedAt: clock.now(), lifetimeMs: qrLifetimeMs }
    account.codeShown()
    const { lastQrMessageId } = account.row
    account.announce('qr_generated', lastQrMessageId > 0 ? { last_qr_msg_id: lastQrMessageId } : {})
    onChange()
  }
}

// One pairing: shows QR codes until one is scanned or the window is over. A network that is away is tried again meanwhile.
//
// connecting → offering when the network sends the first code
// offering   → connecting when the connection fails · scanned when the owner of the phone scans a code
// connecting, offering → over when the window ends, or the network says so
// scanned    → over when the network has let go of the pairing connection

import { BridgeError } from '../core/errors.ts'
import type { InstanceName, Jid } from '../core/ids.ts'
import type { Network, NetworkSession, PairingCode, SessionSignal } from '../core/network.ts'
import type { Closing } from '../core/network/closing.ts'
import { writeReason } from '../core/reasons/reason.ts'
import { backoffMs } from '../lib/backoff.ts'
import { sleep, withDeadline } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import type { Log } from '../lib/log.ts'
import type { Semaphore } from '../lib/queues/semaphore.ts'
import { keepProbing } from './keep-probing.ts'
import { retriesAtOnce } from './reconnect-policy.ts'
import { runSession } from './run-session.ts'
import type { SessionRun } from './run-session.ts'

type PairingEvents = {
  qr(text: string): void
  /** The connection failed inside the window and is tried again. */
  failed(closing: Closing): void
  /** After `failed`: the network refuses the pairing, which ends. */
  refused(closing: Closing): void
  /** Linked: the credentials are stored under the session id of this pairing. */
  scanned(jid: Jid): void
  /** After `scanned`: the network has let go of the pairing connection, the account can log in. */
  finished(): void
  /** The window is over and nothing was scanned. */
  over(): void
}

type Deps = {
  instance: InstanceName
  sessionId: string
  networkProxy: () => string | null
  historyDays: number | null
  windowMs: number
  network: Pick<Network, 'open'>
  gate: Semaphore
  clock: Clock
  random: () => number
  log: Log
  events: PairingEvents
}

// The network sends codes as soon as we are connected.
const firstCodeMs = 30_000
// How long a request for a code to type waits for a connection that can give one.
const offerPatienceMs = 20_000
// After a scan the network lets go by itself; when it does not, the account is linked all the same.
const letGoMs = 15_000

const closed: Closing = { cause: 'transient', code: null, reason: 'closed' }

export class Pairing {
  readonly #deps: Deps
  /** Aborts when the window is over, or on disposal. */
  readonly #over = new AbortController()
  #phase: 'connecting' | 'offering' | 'scanned' = 'connecting'
  #isDisposed = false
  /** The session that offers codes, or the next one that will. */
  #offer = newOffer()
  #endsAt = 0
  #run: SessionRun | undefined
  #running: Promise<void> | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get sessionId(): string {
    return this.#deps.sessionId
  }

  get isScanned(): boolean {
    return this.#phase === 'scanned'
  }

  start(): void {
    this.#running ??= this.#pair().catch((err: unknown) => {
      this.#deps.log.error({ err, instance: this.#deps.instance }, 'the pairing failed')
    })
  }

  /** Waits for the network's offer, which comes a moment after the connection. */
  async requestCode(phone: string): Promise<PairingCode> {
    const late = () =>
      new BridgeError(
        'SERVICE_NETWORK_FAILED',
        `the network offered no pairing within ${offerPatienceMs / 1000} s: see last_error of the instance, then try again`,
      )
    const session = await withDeadline(this.#deps.clock, offerPatienceMs, this.#offer.promise, late)
    const { code, expiresAt } = await session.requestPairingCode(phone)
    return { code, expiresAt: Math.min(expiresAt, this.#endsAt) }
  }

  /** Ends the connection. The next attempt follows as after every other end. */
  cutOff(): void {
    this.#run?.hangUp({ cause: 'transient', code: null, reason: writeReason('nodeCutOff') })
  }

  /** Ends the pairing, and no event follows. A scan that happened before stays valid. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    this.#end()
    await this.#running
  }

  async #pair(): Promise<void> {
    const { clock, windowMs, events } = this.#deps
    this.#endsAt = clock.now() + windowMs
    const cancelWindow = clock.after(windowMs, () => {
      if (!this.isScanned) this.#end()
    })
    try {
      await this.#connectUntilOver()
    } finally {
      cancelWindow()
      const sentence = 'the pairing has ended: POST …/refresh-qr opens another'
      this.#offer.reject(new BridgeError('SERVICE_NOT_PAIRING', sentence))
    }
    if (this.#isDisposed) return
    if (this.isScanned) events.finished()
    else events.over()
  }

  #end(): void {
    this.#over.abort()
    this.#run?.hangUp(closed)
  }

  async #connectUntilOver(): Promise<void> {
    const { clock, random, events } = this.#deps
    const over = this.#over.signal
    for (let failures = 0; ; failures++) {
      const closing = await this.#connect()
      if (this.isScanned || over.aborted || closing.cause === 'pairing_over') return
      events.failed(closing)
      if (closing.mayRetryNow && failures < retriesAtOnce) continue
      // Another attempt within seconds would be refused, too.
      if (closing.cause === 'client_refused') {
        events.refused(closing)
        return
      }
      await sleep(clock, backoffMs(failures, { firstMs: 1000, ceilingMs: 10_000, random }), over)
    }
  }

  async #connect(): Promise<Closing> {
    let cancelFirstCode: (() => void) | undefined
    const closing = await runSession(this.#deps, this.#over.signal, {
      onStart: (run) => {
        this.#run = run
        run.atEnd(() => {
          this.#withdrawOffer()
        })
        cancelFirstCode = run.hangUpAfter(firstCodeMs, writeReason('noCode'))
      },
      onSignal: (signal, run) => {
        run.leaveGate()
        cancelFirstCode?.()
        this.#hear(signal, run)
      },
    })
    return closing ?? closed
  }

  /** The session has ended and is about to be closed. A request for a code waits for the next session. */
  #withdrawOffer(): void {
    if (this.#phase !== 'connecting') this.#offer = newOffer()
    if (this.#phase === 'offering') this.#phase = 'connecting'
  }

  #hear(signal: SessionSignal, run: SessionRun): void {
    const { events } = this.#deps
    if (signal.kind === 'qr') {
      this.#offered(run)
      events.qr(signal.text)
    }
    if (signal.kind === 'paired') {
      this.#phase = 'scanned'
      events.scanned(signal.jid)
      run.hangUpAfter(letGoMs, 'the network did not let go of the pairing')
    }
  }

  /** Codes come again and again; what the first one starts goes on until the connection ends. */
  #offered(run: SessionRun): void {
    if (!run.session || this.#phase !== 'connecting') return
    this.#phase = 'offering'
    this.#offer.resolve(run.session)
    run.atEnd(keepProbing(this.#deps, run))
  }
}

function newOffer(): PromiseWithResolvers<NetworkSession> {
  const offer = Promise.withResolvers<NetworkSession>()
  // Most pairings end without a request for a code.
  offer.promise.catch(ignoreRejection)
  return offer
}

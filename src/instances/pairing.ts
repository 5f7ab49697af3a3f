// One pairing: shows QR codes until one is scanned or the window is over; a network that is away is tried again meanwhile.

import { BridgeError } from '../core/errors.ts'
import type { Closing, Network, NetworkSession, PairingCode, SessionSignal } from '../core/network.ts'
import { backoffMs } from '../lib/backoff.ts'
import { sleep, withDeadline } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Semaphore } from '../lib/semaphore.ts'
import type { Log } from '../lib/log.ts'
import { keepProbing } from './keep-probing.ts'
import { openSession } from './open-session.ts'

export type PairingEvents = {
  qr(text: string): void
  /** The connection failed inside the window and is tried again. */
  failed(closing: Closing): void
  /** Linked: the credentials are stored under the session id of this pairing. */
  scanned(jid: string): void
  /** After `scanned`: the network has let go of the pairing connection, the account can log in. */
  finished(): void
  /** The window is over and nothing was scanned. */
  over(): void
}

type Deps = {
  instance: string
  sessionId: string
  windowMs: number
  network: Pick<Network, 'open'>
  gate: Semaphore
  clock: Clock
  random: () => number
  log: Log
  events: PairingEvents
}

// The network answers with codes as soon as it has let us in.
const firstCodeMs = 30_000
// Who asks for a code to type waits this long for a connection that can give one.
const offerPatienceMs = 20_000
// After a scan the network lets go by itself; when it does not, the account is linked all the same.
const letGoMs = 15_000

const closed: Closing = { cause: 'transient', code: null, reason: 'closed' }

export class Pairing {
  readonly #deps: Deps
  readonly #stop = new AbortController()
  readonly #window = new AbortController()
  #session: NetworkSession | undefined
  /** The connection that has been offered codes, or the next one that will be. */
  #offer = newOffer()
  #isOffered = false
  #endsAt = 0
  #hangUp: ((closing: Closing) => void) | undefined
  #scanned = false
  #running: Promise<void> | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get sessionId(): string {
    return this.#deps.sessionId
  }

  get isScanned(): boolean {
    return this.#scanned
  }

  start(): void {
    this.#running ??= this.#run().catch((err: unknown) => {
      this.#deps.log.error({ err, instance: this.#deps.instance }, 'the pairing failed')
    })
  }

  /** The network's offer comes a moment after the connection, and is waited for. */
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

  /** Ends the pairing without a word; what was scanned already stays scanned. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.#hangUp?.(closed)
    await this.#running
  }

  get #stopped(): boolean {
    return this.#stop.signal.aborted
  }

  async #run(): Promise<void> {
    const { clock, windowMs, events } = this.#deps
    this.#endsAt = clock.now() + windowMs
    const cancelWindow = clock.after(windowMs, () => {
      this.#window.abort()
      if (!this.#scanned) this.#hangUp?.(closed)
    })
    try {
      await this.#connectUntilOver()
    } finally {
      cancelWindow()
      const sentence = 'the pairing has ended: POST …/refresh-qr opens another'
      this.#offer.reject(new BridgeError('SERVICE_NOT_PAIRING', sentence))
    }
    if (this.#stopped) return
    if (this.#scanned) events.finished()
    else events.over()
  }

  async #connectUntilOver(): Promise<void> {
    const { clock, random, events } = this.#deps
    const over = AbortSignal.any([this.#window.signal, this.#stop.signal])
    for (let failures = 0; ; failures++) {
      const closing = await this.#connect(over)
      if (this.#scanned || over.aborted || closing.cause === 'pairing_over') return
      events.failed(closing)
      // Asking again within seconds changes nothing about that.
      if (closing.cause === 'client_refused') return
      await sleep(clock, backoffMs(failures, { firstMs: 1000, ceilingMs: 10_000, random }), over)
    }
  }

  async #connect(over: AbortSignal): Promise<Closing> {
    const leaveGate = await this.#deps.gate.enter(over).catch(() => undefined)
    if (!leaveGate) return closed
    const ended = Promise.withResolvers<Closing>()
    this.#hangUp = ended.resolve
    using timers = new DisposableStack()
    const hangUpAfter = (ms: number, reason: string) => {
      const cancel = this.#deps.clock.after(ms, () => {
        ended.resolve({ cause: 'transient', code: 408, reason })
      })
      timers.defer(cancel)
      return cancel
    }
    const cancelFirstCode = hangUpAfter(firstCodeMs, 'the network gave no code within 30 s')
    let session: NetworkSession | undefined
    try {
      const { network, sessionId, instance } = this.#deps
      session = await openSession(network, { sessionId, instance }, over, (signal) => {
        leaveGate()
        cancelFirstCode()
        if (signal.kind === 'qr') this.#offered(ended.resolve, timers)
        this.#hear(signal)
        if (signal.kind === 'paired') hangUpAfter(letGoMs, 'the network did not let go of the pairing')
        if (signal.kind === 'closed') ended.resolve(signal.closing)
      })
      this.#session = session
      return await ended.promise
    } catch (error) {
      return { cause: 'transient', code: null, reason: error instanceof Error ? error.message : String(error) }
    } finally {
      leaveGate()
      this.#session = undefined
      if (this.#isOffered) this.#offer = newOffer()
      this.#isOffered = false
      await session?.close()
    }
  }

  /** Codes come again and again; what the first one starts goes on until the connection ends. */
  #offered(hangUp: (closing: Closing) => void, timers: DisposableStack): void {
    if (!this.#session || this.#isOffered) return
    this.#isOffered = true
    this.#offer.resolve(this.#session)
    timers.defer(keepProbing({ ...this.#deps, session: () => this.#session, hangUp }))
  }

  #hear(signal: SessionSignal): void {
    if (signal.kind === 'qr') this.#deps.events.qr(signal.text)
    if (signal.kind !== 'paired') return
    this.#scanned = true
    this.#deps.events.scanned(signal.jid)
  }
}

function newOffer(): PromiseWithResolvers<NetworkSession> {
  const offer = Promise.withResolvers<NetworkSession>()
  // Often nobody waits for it.
  offer.promise.catch(() => undefined)
  return offer
}

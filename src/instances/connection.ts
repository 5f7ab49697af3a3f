// Keeps one stored session connected: tries again for ever. The reason of the last end decides the pause before the next
// attempt.
//
// waiting    → connecting when the pause is over or a caller asks to try now, and the gate lets one more pass
// connecting → online when logged in · waiting when it fails
// online     → waiting when the connection ends, or does not answer a probe
// halted     → after two "replaced" within 10 minutes: only a restart goes on
// over       → the session is worthless, or the connection was closed for good

import type { InstanceName, Jid } from '../core/ids.ts'
import type { Network, NetworkSession, SessionSignal } from '../core/network.ts'
import type { CloseCause, Closing } from '../core/network/closing.ts'
import { writeReason } from '../core/reasons/reason.ts'
import type { Clock } from '../lib/clock.ts'
import { sleep, withDeadline } from '../lib/clock.ts'
import type { Semaphore } from '../lib/queues/semaphore.ts'
import type { Log } from '../lib/log.ts'
import { keepProbing } from './keep-probing.ts'
import { ReconnectPolicy } from './reconnect-policy.ts'
import { runSession } from './run-session.ts'
import type { SessionRun } from './run-session.ts'

const loginDeadlineMs = 60_000

/** Another attempt within seconds would be refused, too, or would count as a strike. */
const refusals: ReadonlySet<CloseCause> = new Set(['temporary_ban', 'client_refused', 'replaced'])

const keysLost: Closing = {
  cause: 'invalidated',
  code: null,
  reason: writeReason('keysGone'),
}

type ConnectionEvents = {
  attempt(): void
  authenticated(jid: Jid): void
  drained(): void
  /** The next attempt follows after the pause; null: not before a caller asks. */
  dropped(closing: Closing, pauseMs: number | null): void
  /** The connection ended to be opened again at once. */
  reopening(reason: string): void
  /** The session is worthless; nothing follows. */
  invalidated(closing: Closing): void
}

type Deps = {
  instance: InstanceName
  sessionId: string
  networkProxy: () => string | null
  network: Pick<Network, 'open'>
  gate: Semaphore
  clock: Clock
  random: () => number
  log: Log
  events: ConnectionEvents
}

export class Connection {
  readonly #deps: Deps
  readonly #policy: ReconnectPolicy
  readonly #stop = new AbortController()
  #wake = new AbortController()
  #run: SessionRun | undefined
  #isLoggedIn = false
  /** The pause that runs now is one that only a restart may end early. */
  #mustRest = false
  #running: Promise<void> | undefined

  constructor(deps: Deps) {
    this.#deps = deps
    this.#policy = new ReconnectPolicy(deps)
  }

  get session(): NetworkSession | undefined {
    return this.#run?.session
  }

  /** How many attempts have failed since the last login. */
  get failures(): number {
    return this.#policy.failedSinceLogin
  }

  start(firstPauseMs = 0): void {
    this.#running ??= this.#reconnect(firstPauseMs).catch((err: unknown) => {
      this.#deps.log.error({ err, instance: this.#deps.instance }, 'the connection loop failed')
    })
  }

  /** Tells the network to forget this device. Rejects without a login, or when the network does not answer within `ms`. */
  async logout(ms: number): Promise<void> {
    if (!this.#isLoggedIn || !this.session) throw new Error('there is no connection')
    await withDeadline(this.#deps.clock, ms, this.session.logout(), () => new Error('no answer to the logout'))
  }

  /** Ends the pause, also one that only a restart may end. */
  tryNow(): void {
    this.#policy.forgive()
    this.#wake.abort()
  }

  /** Closes the open session, if any. The next attempt follows as after every other end. */
  cutOff(): void {
    this.#run?.hangUp({ cause: 'transient', code: null, reason: writeReason('nodeCutOff') })
  }

  /** Ends the pause, but not one that the network has caused. */
  goOn(): void {
    if (!this.#mustRest) this.#wake.abort()
  }

  /** Closes the open session, if any, and opens it again at once. */
  reopen(): void {
    this.tryNow()
    this.#run?.hangUp({ cause: 'restart', code: null, reason: 'restart was asked for' })
  }

  /** Like reopen, but false after a ban, a refusal or a replacement: then the next attempt comes after the pause. */
  renew(): boolean {
    if (this.#mustRest) return false
    this.reopen()
    return true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.#run?.hangUp({ cause: 'transient', code: null, reason: 'closed' })
    await this.#running
  }

  get #stopped(): boolean {
    return this.#stop.signal.aborted
  }

  async #reconnect(firstPauseMs: number): Promise<void> {
    const { events } = this.#deps
    // The first pause may be the rest of a ban.
    this.#mustRest = true
    for (let pause: number | null = firstPauseMs; ;) {
      await this.#rest(pause)
      this.#mustRest = false
      const closing = this.#stopped ? undefined : await this.#connect()
      if (!closing || this.#stopped) return
      if (closing.cause === 'invalidated' || closing.cause === 'banned') {
        events.invalidated(closing)
        return
      }
      pause = this.#policy.pauseAfter(closing)
      this.#mustRest = refusals.has(closing.cause)
      if (closing.cause === 'restart') events.reopening(closing.reason)
      else events.dropped(closing, pause)
    }
  }

  /** A pause of null ends only when a caller asks to try now. */
  async #rest(pauseMs: number | null): Promise<void> {
    if (pauseMs === 0) return
    this.#wake = new AbortController()
    const wake = AbortSignal.any([this.#wake.signal, this.#stop.signal])
    await sleep(this.#deps.clock, pauseMs ?? Infinity, wake)
  }

  /** One connection from the attempt to its end; undefined when it was stopped before it began. */
  async #connect(): Promise<Closing | undefined> {
    const { events } = this.#deps
    let cancelLogin: (() => void) | undefined
    const closing = await runSession(this.#deps, this.#stop.signal, {
      onStart: (run) => {
        this.#run = run
        events.attempt()
        cancelLogin = run.hangUpAfter(loginDeadlineMs, writeReason('notLetIn'))
      },
      onSignal: (signal, run) => {
        if (signal.kind === 'authenticated') cancelLogin?.()
        this.#hear(signal, run)
      },
    })
    this.#isLoggedIn = false
    this.#policy.ended()
    return closing
  }

  #hear(signal: SessionSignal, run: SessionRun): void {
    const { events } = this.#deps
    // Only a session without credentials is offered a code.
    if (signal.kind === 'qr') run.hangUp(keysLost)
    if (signal.kind === 'authenticated') this.#loggedIn(signal.jid, run)
    if (signal.kind === 'drained') events.drained()
  }

  #loggedIn(jid: Jid, run: SessionRun): void {
    run.leaveGate()
    this.#isLoggedIn = true
    this.#policy.loggedIn()
    this.#deps.events.authenticated(jid)
    run.atEnd(keepProbing(this.#deps, run))
  }
}

// One session from its opening to its end: waits at the gate, opens the session, passes its signals on, and closes it.

import type { Network, NetworkSession, SessionName, SessionSignal } from '../core/network.ts'
import { NotHeldError } from '../core/nodes/hold.ts'
import type { Closing, Unreachable } from '../core/network/closing.ts'
import { writeReason } from '../core/reasons/reason.ts'
import { orAbort } from '../lib/abort.ts'
import type { Clock } from '../lib/clock.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import type { Semaphore } from '../lib/queues/semaphore.ts'

type Deps = Omit<SessionName, 'networkProxy'> & {
  /** Asked when the session is opened: the proxy may have changed at the gate. */
  networkProxy: () => string | null
  network: Pick<Network, 'open'>
  /** Limits how many sessions are opened at the same time. */
  gate: Semaphore
  clock: Clock
}

type Listener = {
  /** Called when the gate lets this session pass. */
  onStart(run: SessionRun): void
  onSignal(signal: SessionSignal, run: SessionRun): void
}

/** The network answers, but does not go on. */
const tooSlow: Unreachable = { cause: 'timeout', cure: writeReason('cureWait') }

/** A session that is opening or open. */
export class SessionRun implements Disposable {
  readonly #clock: Clock
  readonly #leaveGate: () => void
  readonly #timers = new DisposableStack()
  readonly #ended = Promise.withResolvers<Closing>()
  /** Undefined until the session is open, and after its end. */
  session: NetworkSession | undefined

  constructor(clock: Clock, leaveGate: () => void) {
    this.#clock = clock
    this.#leaveGate = leaveGate
  }

  get ended(): Promise<Closing> {
    return this.#ended.promise
  }

  hangUp(closing: Closing): void {
    this.#ended.resolve(closing)
  }

  /** Returns how to cancel it; the end of the session cancels it too. */
  hangUpAfter(ms: number, reason: string): () => void {
    const cancel = this.#clock.after(ms, () => {
      this.hangUp({ cause: 'transient', code: 408, reason, unreachable: tooSlow })
    })
    this.atEnd(cancel)
    return cancel
  }

  /** Runs `work` when the session has ended. */
  atEnd(work: () => void): void {
    this.#timers.defer(work)
  }

  /** Lets another session be opened; a second call does nothing. */
  leaveGate(): void {
    this.#leaveGate()
  }

  [Symbol.dispose](): void {
    this.session = undefined
    this.#timers.dispose()
    this.#leaveGate()
  }
}

/**
 * Resolves with the reason when the session has ended and is closed. Undefined when `stop` aborted at the gate, and when another
 * process holds the instance: then this one must not try again.
 */
export async function runSession(deps: Deps, stop: AbortSignal, listener: Listener): Promise<Closing | undefined> {
  const { gate, clock, network, sessionId, instance, isLeaving = false, networkProxy, historyDays = null } = deps
  const leaveGate = await gate.enter(stop).catch(ignoreRejection)
  if (!leaveGate) return undefined
  const run = new SessionRun(clock, leaveGate)
  let session: NetworkSession | undefined
  try {
    listener.onStart(run)
    const name = { sessionId, instance, isLeaving, networkProxy: networkProxy(), historyDays }
    session = await openSession(network, name, stop, (signal) => {
      listener.onSignal(signal, run)
      if (signal.kind === 'closed') run.hangUp(signal.closing)
    })
    run.session = session
    return await run.ended
  } catch (error) {
    if (error instanceof NotHeldError) return undefined
    return { cause: 'transient', code: null, reason: error instanceof Error ? error.message : String(error) }
  } finally {
    run[Symbol.dispose]()
    await session?.close()
  }
}

/** Rejects when `stop` aborts first: storage that is away can delay the opening for any time. */
async function openSession(
  network: Pick<Network, 'open'>,
  name: SessionName,
  stop: AbortSignal,
  onSignal: (signal: SessionSignal) => void,
): Promise<NetworkSession> {
  stop.throwIfAborted()
  const opening = network.open(name, onSignal)
  try {
    return await orAbort(opening, stop)
  } catch (error) {
    // A session that opens after that is closed again.
    if (stop.aborted) opening.then((late) => late.close()).catch(ignoreRejection)
    throw error
  }
}

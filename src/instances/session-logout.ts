// Logs one session out, however long the network is away. The session is opened only for that, by the one node that has claimed it.
//
// waiting → telling when the pause is over or a caller asks to try now, and the gate lets one more pass
// telling → over when WhatsApp has confirmed the logout, or refuses the session · waiting when it fails
// waiting → over when the logout was asked for too long ago

import type { AccountNetwork } from '../core/network.ts'
import type { Closing } from '../core/network/closing.ts'
import { orAbort } from '../lib/abort.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import type { Semaphore } from '../lib/queues/semaphore.ts'
import type { LogoutClaim, PendingLogout } from '../storage/stores/accounts/pending-logout-store.ts'
import { ReconnectPolicy } from './reconnect-policy.ts'
import { runSession } from './run-session.ts'
import type { SessionRun } from './run-session.ts'

/** A session that cannot be logged out for so long is given up. */
const logoutPatienceMs = 30 * 86_400_000
const attemptDeadlineMs = 60_000
// Where a linked account would wait for an operator.
const longestPauseMs = 15 * 60_000

const keysLost: Closing = {
  cause: 'invalidated',
  code: null,
  reason: 'the keys of this session are not stored any more',
}

type Deps = {
  network: Pick<AccountNetwork, 'open' | 'storedJid' | 'release'>
  gate: Semaphore
  /** Called before each attempt. A claim under way is waited for: it must not come after its release. */
  claim: () => Promise<LogoutClaim>
  clock: Clock
  random: () => number
  /** Ends everything; the next process goes on. */
  stop: AbortSignal
}

/** How a logout ended. `closing` says why the session cannot be used any more. */
export type LogoutEnd = { kind: 'told'; closing: Closing } | { kind: 'expired'; lastFailure: string }

export class SessionLogout {
  readonly #deps: Deps
  readonly #logout: PendingLogout
  readonly #policy: ReconnectPolicy
  #wake = new AbortController()
  #cut = new AbortController()
  #lastFailure = 'the network was never tried'

  constructor(deps: Deps, logout: PendingLogout) {
    this.#deps = deps
    this.#logout = logout
    this.#policy = new ReconnectPolicy(deps)
  }

  /** Ends the pause before the next attempt. */
  tryNow(): void {
    this.#policy.forgive()
    this.#wake.abort()
  }

  /** Ends the attempt under way; the next one follows after a pause. */
  cutOff(): void {
    this.#cut.abort()
  }

  /** Undefined when it was stopped first, or when another node has logged the session out. */
  async run(firstPauseMs: number): Promise<LogoutEnd | undefined> {
    for (let pauseMs = firstPauseMs; ;) {
      await this.#rest(pauseMs)
      if (this.#isStopped()) return undefined
      if (this.#leftMs <= 0) return { kind: 'expired', lastFailure: this.#lastFailure }
      const closing = await this.#attempt()
      if (this.#isStopped() || closing === undefined) return undefined
      if (closing.cause === 'invalidated' || closing.cause === 'banned') return { kind: 'told', closing }
      this.#lastFailure = closing.reason
      pauseMs = this.#policy.pauseAfter(closing) ?? longestPauseMs
    }
  }

  get #leftMs(): number {
    return this.#logout.askedAt + logoutPatienceMs - this.#deps.clock.now()
  }

  async #rest(pauseMs: number): Promise<void> {
    const { clock, stop } = this.#deps
    this.#wake = new AbortController()
    await sleep(clock, Math.max(0, Math.min(pauseMs, this.#leftMs)), AbortSignal.any([this.#wake.signal, stop]))
  }

  #isStopped(): boolean {
    return this.#deps.stop.aborted
  }

  /** Undefined when the logout is not pending any more. */
  async #attempt(): Promise<Closing | undefined> {
    const { network, claim, stop } = this.#deps
    const { sessionId, instance } = this.#logout
    this.#cut = new AbortController()
    const over = AbortSignal.any([stop, this.#cut.signal])
    try {
      const claimed = await claim()
      if (claimed === 'done') return undefined
      if (claimed === 'elsewhere') return failedWith('another node logs this session out')
      if ((await orAbort(network.storedJid({ sessionId, instance, isLeaving: true }), over)) === null) return keysLost
      return (await this.#tell(over)) ?? failedWith('stopped')
    } catch (error) {
      return failedWith(error)
    } finally {
      // The next attempt may be minutes away.
      await network.release(sessionId).catch(ignoreRejection)
    }
  }

  async #tell(over: AbortSignal): Promise<Closing | undefined> {
    const { sessionId, instance, networkProxy } = this.#logout
    const name = { sessionId, instance, isLeaving: true, networkProxy: () => networkProxy }
    return runSession({ ...this.#deps, ...name }, over, {
      onStart: (run) => {
        run.hangUpAfter(attemptDeadlineMs, 'the network did not take the logout within 60 s')
        const hangUp = () => {
          run.hangUp(failedWith('stopped'))
        }
        over.addEventListener('abort', hangUp)
        run.atEnd(() => {
          over.removeEventListener('abort', hangUp)
        })
      },
      onSignal: (signal, run) => {
        if (signal.kind === 'authenticated') void logOut(run)
      },
    })
  }
}

/** The session ends as invalidated when WhatsApp has confirmed the logout. */
async function logOut(run: SessionRun): Promise<void> {
  try {
    await run.session?.logout()
  } catch (error) {
    run.hangUp(failedWith(error))
  }
}

function failedWith(error: unknown): Closing {
  return { cause: 'transient', code: null, reason: error instanceof Error ? error.message : String(error) }
}

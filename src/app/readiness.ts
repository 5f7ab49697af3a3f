// Says whether this process answers requests.
//
// starting → serving when the start has done what must precede the first request
// starting → standby when an owner holds the lease for longer than a lease lasts: the owner renews it, so the owner lives
// standby  → serving when the owner ends and this process has taken over
// serving  → standby when another process has taken the lease

import type { ReadyState } from '../http/routes/operations.ts'
import type { Phase } from '../http/server/start-gate.ts'
import type { Ownership } from '../instances/ownership.ts'
import type { Clock } from '../lib/clock.ts'
import type { NodeView } from './nodes/node-view.ts'

type Deps = {
  ownership: Pick<Ownership, 'state' | 'serves' | 'isRefused'>
  /** The clock that the lease runs on. */
  clock: Pick<Clock, 'monotonic'>
  nodeTrouble: NodeView['trouble']
}

/** The lease of a dead owner ends within 5 s, and is asked for every second. */
const ownerLivesMs = 6500

export class Readiness {
  readonly #deps: Deps
  readonly #createdAt: number
  readonly #begun = new AbortController()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#createdAt = deps.clock.monotonic()
  }

  /** Called once when the routes may answer. */
  begin(): void {
    this.#begun.abort()
  }

  /** Aborts when the routes may answer. */
  get begun(): AbortSignal {
    return this.#begun.signal
  }

  get phase(): Phase {
    const { ownership, clock } = this.#deps
    if (ownership.serves) return this.begun.aborted ? 'serving' : 'starting'
    if (ownership.state !== 'standby') return 'standby'
    // As long as the database does not answer, nothing says that there is another process.
    const ownerLives = ownership.isRefused && clock.monotonic() - this.#createdAt >= ownerLivesMs
    return ownerLives ? 'standby' : 'starting'
  }

  /** For a balancer: whether this process takes requests, or why not. */
  get readyState(): ReadyState {
    const { phase } = this
    return phase === 'serving' ? (this.#deps.nodeTrouble() ?? 'ready') : phase
  }

  /** For health: whether this process owns the accounts, or why it does not act. */
  get shown(): string {
    return this.phase === 'starting' ? 'starting' : this.#deps.ownership.state
  }
}

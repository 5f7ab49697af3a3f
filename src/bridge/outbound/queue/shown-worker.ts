// Keeps what the helpdesk shows of a message true. A row whose message may be shown wrongly has a time for a look: then this
// worker asks the helpdesk what it shows, and does what the table in core/shown.ts says.

import type { DestinationKey, RowId } from '../../../core/ids.ts'
import { heldAndDeletedRows } from '../../../core/nodes/duties.ts'
import type { Duties } from '../../../core/nodes/duties.ts'
import { unlessLost } from '../../../core/nodes/hold.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import { KeyedLimits } from '../../../lib/queues/keyed-limits.ts'
import type { DueLook, ShownStore } from '../../../storage/stores/messages/shown-store.ts'
import type { GivenAnswers } from './given-answers.ts'
import type { ShownLook } from './shown-look.ts'

type Deps = {
  store: Pick<ShownStore, 'planUnsure' | 'due' | 'endLooks'>
  answers: Pick<GivenAnswers, 'flush'>
  look: Pick<ShownLook, 'lookIfDue'>
  duties: Pick<Duties, 'held' | 'isFirst'>
  /** Whether a look would come too early: the row may still be withdrawn, or its answer was just given. */
  isUndecided: (id: RowId) => boolean
  /** Whether the look was planned for changes of ours, and the helpdesk has told us of all of them. */
  isNeedless: (look: DueLook) => boolean
  clock: Clock
  log: Log
  /** Calls `run` in the background. */
  start: () => void
}

// The answer is given, and noted, long before.
const unsureMs = 10_000
const lookedForMs = 24 * 3_600_000
const batchSize = 200
const looksPerDestination = 4

export class ShownWorker {
  readonly #deps: Deps
  readonly #stop = new AbortController()
  readonly #looks = new Map<RowId, Promise<void>>()
  readonly #limits = new KeyedLimits<DestinationKey>(looksPerDestination)
  /** Rows whose next look became due while one was under way. */
  readonly #again = new Set<RowId>()
  #isWoken = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Starts the looks that are due. A destination that does not answer delays no other. */
  async run(): Promise<void> {
    this.#isWoken = true
    while (this.#isWoken) {
      this.#isWoken = false
      await this.#beginDue()
    }
  }

  /** A look has become due. */
  wake(): void {
    this.#isWoken = true
    this.#deps.start()
  }

  /** Waits for the looks under way: what they set at the helpdesk is stored. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#looks.values())
  }

  async #beginDue(): Promise<void> {
    const { store, answers, duties, isUndecided, isNeedless, clock } = this.#deps
    const scope = heldAndDeletedRows(duties)
    await answers.flush()
    const now = clock.now()
    await unlessLost(store.planUnsure({ after: now - lookedForMs, before: now - unsureMs }, now, scope))
    const due = await store.due(clock.now(), batchSize, scope)
    const { needless = [], needed = [] } = Object.groupBy(due, (look) => (isNeedless(look) ? 'needless' : 'needed'))
    await unlessLost(store.endLooks(needless))
    // After a burst of receipts most looks are needless. They do not delay the others.
    if (needless.length > 0) this.#isWoken = true
    for (const look of needed) {
      if (this.#looks.has(look.id)) this.#again.add(look.id)
      else if (!this.#stop.signal.aborted && !isUndecided(look.id)) this.#begin(look)
    }
  }

  #begin({ id, destination }: DueLook): void {
    const look = this.#look(id, destination).finally(() => {
      this.#looks.delete(id)
      if (this.#again.delete(id)) this.wake()
    })
    this.#looks.set(id, look)
  }

  async #look(id: RowId, destination: DestinationKey): Promise<void> {
    const { look, log } = this.#deps
    const { signal } = this.#stop
    try {
      await this.#limits.run(destination, signal, () => unlessLost(look.lookIfDue(id)))
    } catch (err) {
      if (!signal.aborted)
        log.error({ err, queue_id: id }, 'what the helpdesk shows of a message could not be followed')
    }
  }
}

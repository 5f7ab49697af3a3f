// Starts the import of what the phone sends when the account is linked. The job is stored with the first message that is kept. It
// starts when the phone says that it has sent all, or when nothing has come for a while.

import type { InstanceName } from '../../core/ids.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { Clock } from '../../lib/clock.ts'

/** The jobs of the instances, as far as they import what a pairing brought. */
export type PairingJobs = Pick<Jobs, 'addHeld' | 'release' | 'isHeld'>

type Deps = {
  jobs: PairingJobs
  /** For how many days the instance imports its history when it is linked; null when it does not. */
  daysOf: (instance: InstanceName) => number | null
  clock: Clock
}

const type = 'history_pairing'

/** A phone that is still sending pauses for less. */
const quietMs = 120_000

export class PairingImport implements PerInstance {
  readonly #deps: Deps
  /** Ends the wait of each instance whose phone may send more. */
  readonly #waits = new Map<InstanceName, () => void>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** A process that ended before may have announced the job. The jobs must have taken the instance. */
  take(instance: InstanceName): void {
    if (this.#deps.jobs.isHeld(instance, type)) this.#wait(instance)
  }

  leave(instance: InstanceName): void {
    this.#waits.get(instance)?.()
    this.#waits.delete(instance)
  }

  /** Messages of a pairing are stored. Resolves when the job is stored, too. */
  async kept(instance: InstanceName): Promise<void> {
    const { jobs, daysOf } = this.#deps
    const days = daysOf(instance)
    if (days === null) return
    // A job that was announced may have been cancelled since. The rest of what the phone sends does not bring it back.
    const isAnnounced = this.#waits.has(instance)
    // The phone has sent these messages, so nothing is asked of it.
    const params = { chat: null, count: null, timeoutMs: 0, days, mediaDays: 0 }
    if (!isAnnounced) await jobs.addHeld(instance, { type, params })
    // The instance may have left meanwhile.
    if (isAnnounced || jobs.isHeld(instance, type)) this.#wait(instance)
  }

  /** The phone has sent all. */
  ended(instance: InstanceName): void {
    if (this.#waits.has(instance)) this.#start(instance)
  }

  #wait(instance: InstanceName): void {
    this.#waits.get(instance)?.()
    const cancel = this.#deps.clock.after(quietMs, () => {
      this.#start(instance)
    })
    this.#waits.set(instance, cancel)
  }

  #start(instance: InstanceName): void {
    this.leave(instance)
    this.#deps.jobs.release(instance, type)
  }
}

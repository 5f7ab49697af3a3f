// Limits how many messages are posted to a helpdesk at the same time. Files have fewer places than there are connections to
// the helpdesk, so texts get past uploads that are slow. Nodes share the places.

import type { DestinationKey } from '../../core/ids.ts'
import { shareOf } from '../../core/nodes/duties.ts'
import type { Duties } from '../../core/nodes/duties.ts'
import { getOrCreate } from '../../lib/keyed.ts'
import { Semaphore } from '../../lib/queues/semaphore.ts'

type Where = { destination: DestinationKey; origin: string }

const postsPerDestination = 16
const uploadsPerOrigin = 8
const pastTextsPerDestination = 8
const pastUploadsPerOrigin = 4
const busyPosts = 4

export class PostLimits {
  readonly #duties: Pick<Duties, 'sharers'>
  readonly #limits = new Map<string, Semaphore>()
  /** How many live messages are being posted or wait for a place. */
  readonly #live = new Map<DestinationKey, number>()

  constructor(duties: Pick<Duties, 'sharers'>) {
    this.#duties = duties
  }

  /** Resolves to a function that frees the place. */
  async enter(where: Where, hasFiles: boolean, signal: AbortSignal, isPast = false): Promise<() => void> {
    if (isPast) return this.#enterPast(where, hasFiles, signal)
    const { destination } = where
    this.#addLive(destination, 1)
    try {
      const leave = await this.#enter(where, hasFiles, signal)
      return () => {
        this.#addLive(destination, -1)
        leave()
      }
    } catch (error) {
      this.#addLive(destination, -1)
      throw error
    }
  }

  /** Whether several live messages are being posted there at the moment. Messages of the history can wait. */
  isBusy(destination: DestinationKey): boolean {
    return (this.#live.get(destination) ?? 0) >= busyPosts
  }

  /** Some places stay free of messages of the history, so that live messages find one at once. */
  async #enterPast({ destination, origin }: Where, hasFiles: boolean, signal: AbortSignal): Promise<() => void> {
    const key = hasFiles ? `files of the past|${origin}` : `past|${destination}`
    const leavePast = await this.#limitOf(key, hasFiles ? pastUploadsPerOrigin : pastTextsPerDestination).enter(signal)
    try {
      const leave = await this.#enter({ destination, origin }, hasFiles, signal)
      return () => {
        leave()
        leavePast()
      }
    } catch (error) {
      leavePast()
      throw error
    }
  }

  async #enter({ destination, origin }: Where, hasFiles: boolean, signal: AbortSignal): Promise<() => void> {
    const leaveUploads = hasFiles ? await this.#limitOf(origin, uploadsPerOrigin).enter(signal) : undefined
    try {
      const leave = await this.#limitOf(destination, postsPerDestination).enter(signal)
      return () => {
        leave()
        leaveUploads?.()
      }
    } catch (error) {
      leaveUploads?.()
      throw error
    }
  }

  #addLive(destination: DestinationKey, by: 1 | -1): void {
    const count = (this.#live.get(destination) ?? 0) + by
    if (count === 0) this.#live.delete(destination)
    else this.#live.set(destination, count)
  }

  #limitOf(key: string, places: number): Semaphore {
    return getOrCreate(this.#limits, key, () => new Semaphore(() => shareOf(places, this.#duties)))
  }
}

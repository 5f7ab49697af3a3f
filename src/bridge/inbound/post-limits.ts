// Limits how many messages are posted to a helpdesk at the same time. Files have fewer places than there are connections to
// the helpdesk, so texts get past uploads that are slow.

import type { DestinationKey } from '../../core/ids.ts'
import { getOrCreate } from '../../lib/keyed.ts'
import { Semaphore } from '../../lib/queues/semaphore.ts'

type Where = { destination: DestinationKey; origin: string }

const postsPerDestination = 16
const uploadsPerOrigin = 8

export class PostLimits {
  readonly #limits = new Map<string, Semaphore>()

  /** Resolves to a function that frees the place. */
  async enter({ destination, origin }: Where, hasFiles: boolean, signal: AbortSignal): Promise<() => void> {
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

  #limitOf(key: string, places: number): Semaphore {
    return getOrCreate(this.#limits, key, () => new Semaphore(places))
  }
}

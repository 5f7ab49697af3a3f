// How many messages leave for a helpdesk at a time. Files share its origin with fewer places than there are connections to
// it, so that however slowly they travel texts find a way past.

import { originIn } from '../../core/downstream.ts'
import { Semaphore } from '../../lib/semaphore.ts'

const postsAtOnce = 16
const uploadsAtOnce = 8

export class PostLimits {
  readonly #gates = new Map<string, Semaphore>()

  /** Resolves to the function that makes room for the next one. */
  async enter(destination: string, hasFiles: boolean, signal: AbortSignal): Promise<() => void> {
    const leaveUploads = hasFiles ? await this.#gateOf(originIn(destination), uploadsAtOnce).enter(signal) : undefined
    try {
      const leave = await this.#gateOf(destination, postsAtOnce).enter(signal)
      return () => {
        leave()
        leaveUploads?.()
      }
    } catch (error) {
      leaveUploads?.()
      throw error
    }
  }

  #gateOf(key: string, width: number): Semaphore {
    const known = this.#gates.get(key)
    if (known) return known
    const gate = new Semaphore(width)
    this.#gates.set(key, gate)
    return gate
  }
}

// How many messages leave for a helpdesk at a time. Files share its origin with fewer places than there are connections to
// it, so that however slowly they travel texts find a way past.

import { originIn } from '../../core/downstream.ts'
import { Gate } from '../../lib/semaphore.ts'

const postsAtOnce = 16
const uploadsAtOnce = 8

export class PostGates {
  readonly #gates = new Map<string, Gate>()

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

  #gateOf(key: string, width: number): Gate {
    const known = this.#gates.get(key)
    if (known) return known
    const gate = new Gate(width)
    this.#gates.set(key, gate)
    return gate
  }
}

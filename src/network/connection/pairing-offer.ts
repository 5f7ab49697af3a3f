// Keeps track of the codes that the network offers while an account is being linked.

import { once } from 'node:events'
import type { Clock } from '../../lib/clock.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'
import { childrenOf } from '../library/nodes.ts'

type Deps = { socket: WASocket; clock: Clock; qrLifetimeMs: number }

const offerEvent = 'CB:iq,type:set,pair-device'

export class PairingOffer {
  readonly #ws: WASocket['ws']
  /** Undefined before the network has made an offer. */
  #codesLeft: number | undefined
  #endsAt = 0

  constructor({ socket, clock, qrLifetimeMs }: Deps) {
    this.#ws = socket.ws
    this.#ws.on(offerEvent, (stanza: BinaryNode) => {
      const [offer] = childrenOf(stanza)
      const codes = offer ? childrenOf(offer).length : 0
      this.#codesLeft = codes
      this.#endsAt = clock.now() + codes * qrLifetimeMs
    })
  }

  /** When the last code of the offer expires, which ends the connection. Epoch milliseconds. */
  get endsAt(): number {
    return this.#endsAt
  }

  /** Whether all codes of an offer were shown. */
  get isUsedUp(): boolean {
    return this.#codesLeft !== undefined && this.#codesLeft <= 0
  }

  /** To be called when a code is shown. */
  takeCode(): void {
    if (this.#codesLeft !== undefined) this.#codesLeft -= 1
  }

  /** Resolves when the network has made its offer. */
  async arrived(gone: AbortSignal): Promise<void> {
    if (this.#codesLeft !== undefined) return
    await once(this.#ws, offerEvent, { signal: gone }).catch((cause: unknown) => {
      throw new Error('the connection ended before a code could be asked for', { cause })
    })
  }
}

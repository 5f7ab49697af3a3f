// Storage in which one write waits until the test lets it go on.

import type { SessionKeyStore, SessionKeyWrite } from '../../../src/storage/stores/accounts/session-key-store.ts'
import type { NetworkDeps } from './network-room.ts'

type Held = { matches: (write: SessionKeyWrite) => boolean; reached: () => void; released: Promise<undefined> }

export class HeldKeys {
  #held: Held | undefined

  /** Holds the next write that matches. `reached` resolves when the write waits. */
  hold(matches: Held['matches']): { reached: Promise<undefined>; release: () => void } {
    const [reached, released] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
    this.#held = {
      matches,
      reached: () => {
        reached.resolve(undefined)
      },
      released: released.promise,
    }
    return {
      reached: reached.promise,
      release: () => {
        released.resolve(undefined)
      },
    }
  }

  in(store: SessionKeyStore): NetworkDeps['keys'] {
    return {
      load: store.load.bind(store),
      idsOf: store.idsOf.bind(store),
      dropSession: store.dropSession.bind(store),
      save: async (...args) => {
        const held = this.#held
        if (held && args[2].some(held.matches)) {
          this.#held = undefined
          held.reached()
          await held.released
        }
        await store.save(...args)
      },
    }
  }
}

// Storage whose writes hang or fail while it is away; reads go on.

import type { SessionKeyStore } from '../../../src/storage/stores/accounts/session-key-store.ts'
import type { NetworkDeps } from './network-room.ts'

export class AwayKeys {
  #back = Promise.withResolvers<undefined>()
  #way: 'answers' | 'hangs' | 'fails' = 'answers'

  leave(way: 'hangs' | 'fails'): void {
    this.#way = way
    this.#back = Promise.withResolvers()
  }

  comeBack(): void {
    this.#way = 'answers'
    this.#back.resolve(undefined)
  }

  in(store: SessionKeyStore): NetworkDeps['keys'] {
    return {
      load: store.load.bind(store),
      idsOf: store.idsOf.bind(store),
      dropSession: store.dropSession.bind(store),
      save: async (...args) => {
        if (this.#way === 'fails') throw new Error('storage is away')
        if (this.#way === 'hangs') await this.#back.promise
        await store.save(...args)
      },
    }
  }
}

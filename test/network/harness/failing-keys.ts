// A key store that can be switched off, as when a disk is full or a database is away.

import type { SessionKeyStore } from '../../../src/storage/stores/accounts/session-key-store.ts'
import { StorageError } from '../../../src/storage/engine/statement.ts'

export class FailingKeys implements Pick<SessionKeyStore, 'load' | 'save' | 'idsOf' | 'dropSession'> {
  readonly #store: SessionKeyStore
  #down = false
  /** Saves are refused, and loads are answered. */
  refusesSaves = false
  refused = 0
  saves = 0

  constructor(store: SessionKeyStore) {
    this.#store = store
  }

  set down(down: boolean) {
    this.#down = down
  }

  async load(...args: Parameters<SessionKeyStore['load']>) {
    this.#refuse()
    return this.#store.load(...args)
  }

  async save(...args: Parameters<SessionKeyStore['save']>) {
    this.#refuse(this.refusesSaves)
    this.saves += 1
    await this.#store.save(...args)
  }

  async idsOf(...args: Parameters<SessionKeyStore['idsOf']>) {
    this.#refuse()
    return this.#store.idsOf(...args)
  }

  async dropSession(...args: Parameters<SessionKeyStore['dropSession']>) {
    this.#refuse()
    await this.#store.dropSession(...args)
  }

  #refuse(also = false): void {
    if (!this.#down && !also) return
    this.refused += 1
    throw new StorageError(this.refused % 2 === 0 ? 'failed' : 'unavailable', 'the disk is full')
  }
}

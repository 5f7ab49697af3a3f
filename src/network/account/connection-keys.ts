// The account's keys as one connection may use them.
//
// The account outlives its connections. When a connection ends, its ConnectionKeys are closed, so that work which is still
// running can neither read nor write keys any more.

import { isLinked } from './account.ts'
import type { AccountKeys, BegunStep, KeyChanges } from './account-keys.ts'
import type { AuthenticationCreds, SignalKeyStore } from '../library/library.ts'

type Deps = { keys: AccountKeys; creds: AuthenticationCreds }

export class ConnectionKeys {
  readonly #deps: Deps
  #isClosed = false

  constructor(deps: Deps) {
    this.#deps = deps
    // Each login writes once, so a process that has lost the account hears of it.
    deps.keys.forgetLastCreds()
  }

  /** The account's keys. Throws when the connection has ended. Writes go through the methods below. */
  get account(): Pick<AccountKeys, 'get' | 'getInStep' | 'addToStep' | 'discardStep'> {
    return this.#open()
  }

  /** For the library's configuration. */
  get store(): SignalKeyStore {
    const get = async (kind: string, ids: readonly string[]) => this.account.get(kind, ids)
    const set = (changes: KeyChanges) => this.set(changes)
    return { get: get as SignalKeyStore['get'], set: set }
  }

  async set(changes: KeyChanges): Promise<void> {
    await this.#open().set(this.#withCounters(changes))
  }

  async setInStep(changes: KeyChanges): Promise<void> {
    await this.#open().setInStep(this.#withCounters(changes))
  }

  async runStep<Result>(work: () => Promise<Result>): Promise<Result> {
    return await this.#open().runStep(() => this.#ifOpen(work))
  }

  async beginStep<Result>(work: () => Promise<Result>): Promise<BegunStep<Result>> {
    return this.#open().beginStep(() => this.#ifOpen(work))
  }

  async runStepUnsynced<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#open().runStepUnsynced(() => this.#ifOpen(work))
  }

  /** Saves the credentials as they are now. Before the account is linked there is nothing to save. */
  saveCreds(): Promise<unknown> {
    const { keys, creds } = this.#deps
    return isLinked(creds) ? keys.setCreds(creds) : Promise.resolve()
  }

  close(): void {
    this.#isClosed = true
  }

  /** New prekeys and their counters are one write. Otherwise a crash could use a published prekey id twice. */
  #withCounters(changes: KeyChanges): KeyChanges {
    const made = Object.entries(changes['pre-key'] ?? {}).flatMap(([id, value]) => (value == null ? [] : [Number(id)]))
    if (made.length === 0) return changes
    const { creds } = this.#deps
    const next = made.reduce((largest, id) => Math.max(largest, id + 1), 0)
    creds.nextPreKeyId = Math.max(creds.nextPreKeyId, next)
    creds.firstUnuploadedPreKeyId = Math.max(creds.firstUnuploadedPreKeyId, next)
    return { ...changes, creds: { creds } }
  }

  /** A step that was still waiting when the connection ended must not run: the network will deliver the message again. */
  #ifOpen<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#open()
    return work()
  }

  #open(): AccountKeys {
    if (this.#isClosed) throw new Error('this connection has ended')
    return this.#deps.keys
  }
}

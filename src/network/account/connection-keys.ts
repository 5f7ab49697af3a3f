// One connection's way to the keys of its account; shut when the connection ends, while the account lives on.

import type { AccountKeys, KeyChanges } from './account-keys.ts'
import type { StepAddition } from './key-writer.ts'
import type { AuthenticationCreds, SignalKeyStore } from '../library/library.ts'

type Deps = { keys: AccountKeys; creds: AuthenticationCreds; sessionIsLinked: () => boolean }

export class ConnectionKeys {
  readonly #deps: Deps
  #shut = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** For the library's configuration. */
  get store(): SignalKeyStore {
    return { get: this.get as SignalKeyStore['get'], set: this.set as SignalKeyStore['set'] }
  }

  readonly get = async (kind: string, ids: readonly string[]) => this.#open().get(kind, ids)

  readonly set = async (changes: KeyChanges): Promise<unknown> => this.#open().set(this.#withCounters(changes))

  readonly getInStep = async (kind: string, ids: readonly string[]) => this.#open().getInStep(kind, ids)

  readonly setInStep = async (changes: KeyChanges) => this.#open().setInStep(this.#withCounters(changes))

  readonly addToStep = (rider: StepAddition): void => {
    this.#open().addToStep(rider)
  }

  readonly discardStep = (): void => {
    this.#open().discardStep()
  }

  readonly runStep = async <Result>(work: () => Promise<Result>): Promise<Result> =>
    this.#open().runStep(() => this.#stillOpen(work))

  readonly runStepUnsynced = async <Result>(work: () => Promise<Result>): Promise<Result> =>
    this.#open().runStepUnsynced(() => this.#stillOpen(work))

  /** Saves the credentials as they are now; before the account is linked there is nothing worth keeping. */
  saveCreds(): Promise<unknown> {
    const { keys, creds, sessionIsLinked } = this.#deps
    return sessionIsLinked() ? keys.set({ creds: { creds } }) : Promise.resolve()
  }

  shut(): void {
    this.#shut = true
  }

  /** New prekeys and the counters that follow from them are one write: a published id must never be made twice. */
  #withCounters(changes: KeyChanges): KeyChanges {
    const made = Object.entries(changes['pre-key'] ?? {}).flatMap(([id, value]) => (value == null ? [] : [Number(id)]))
    if (made.length === 0) return changes
    const { creds } = this.#deps
    const next = made.reduce((largest, id) => Math.max(largest, id + 1), 0)
    creds.nextPreKeyId = Math.max(creds.nextPreKeyId, next)
    creds.firstUnuploadedPreKeyId = Math.max(creds.firstUnuploadedPreKeyId, next)
    return { ...changes, creds: { creds } }
  }

  /** What waited for its turn when the connection ended was not acknowledged and will come again. */
  #stillOpen<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#open()
    return work()
  }

  #open(): AccountKeys {
    if (this.#shut) throw new Error('this connection has ended')
    return this.#deps.keys
  }
}

// Remembers whether the account has moved to LIDs, stored with the account's keys.
//
// WhatsApp moves accounts from phone numbers to LIDs one by one. It refuses a first message from an account that has moved
// to a phone number (463), and any message from an account that has not moved to a LID (400). The states:
// - undefined: nothing is known. A message goes to the address that the caller names.
// - `phone`: the phone has said that the account has not moved. Messages go to phone numbers.
// - `lid`: the account has moved. Messages go to LIDs.
// - `lid_refused`: the network has refused a LID and then taken the phone number. Messages go to phone numbers. Only the
//   word of the phone, or a LID that the network takes after it refused the phone number, leads to `lid` again.

import { lidDomain, phoneDomain } from '../../core/address.ts'
import type { AccountKeys } from './account-keys.ts'

type State = 'phone' | 'lid' | 'lid_refused'

const kind = 'addressing'
const own = 'own'

export class Addressing {
  readonly #keys: Pick<AccountKeys, 'get' | 'set'>
  #state: Promise<State | undefined> | undefined

  constructor(keys: Pick<AccountKeys, 'get' | 'set'>) {
    this.#keys = keys
  }

  /** The domain of the addresses to write to. Undefined when nothing is known. */
  async domain(): Promise<typeof phoneDomain | typeof lidDomain | undefined> {
    const state = await this.#current()
    if (state === undefined) return undefined
    return state === 'lid' ? lidDomain : phoneDomain
  }

  /** The account's phone has said whether the account has moved. Resolves when that is stored. */
  async told(hasMoved: boolean): Promise<void> {
    await this.#become(hasMoved ? 'lid' : 'phone')
  }

  /** A person whose number is known wrote to the account's LID, or the owner wrote to the LID of such a person. */
  async usedLid(): Promise<void> {
    if ((await this.#current()) !== 'lid_refused') await this.#become('lid')
  }

  /** The network has taken one address of a person after it refused the other one. */
  async learn(taken: typeof phoneDomain | typeof lidDomain): Promise<void> {
    await this.#become(taken === lidDomain ? 'lid' : 'lid_refused')
  }

  async #become(state: State): Promise<void> {
    if ((await this.#current()) === state) return
    this.#state = Promise.resolve(state)
    await this.#keys.set({ [kind]: { [own]: state } })
  }

  #current(): Promise<State | undefined> {
    if (this.#state) return this.#state
    const read = this.#keys.get(kind, [own]).then((found) => found[own] as State | undefined)
    this.#state = read
    read.catch(() => {
      // The next message reads it again.
      if (this.#state === read) this.#state = undefined
    })
    return read
  }
}

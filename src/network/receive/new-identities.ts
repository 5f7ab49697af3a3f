// Stores that a person has a new phone, before the library confirms the notice to the network.
//
// A new phone has none of the old keys. The person needs the keys of the groups again, and the old sessions are useless.

import type { Person } from '../../core/address.ts'
import type { Jid } from '../../core/ids.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { Account } from '../account/account.ts'
import type { ConnectionKeys } from '../account/connection-keys.ts'
import { personOf } from '../decode/origin.ts'
import { jidDecode } from '../library/library.ts'
import type { BinaryNode } from '../library/library.ts'
import { childOf } from '../library/nodes.ts'

type Deps = {
  account: Account
  connectionKeys: ConnectionKeys
  /** Asks the server if the LID is not known. */
  lidOf: (phone: Jid) => Promise<Jid | null>
}

export class NewIdentities {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Undefined for other stanzas. Resolves when the change is stored. */
  store(stanza: BinaryNode): Promise<void> | undefined {
    const { type, from = '', lid } = stanza.attrs
    const person = type === 'encrypt' && childOf(stanza, 'identity') ? personOf(from, lid) : undefined
    return person && this.#store(person, from)
  }

  async #store(person: Person, from: Jid): Promise<void> {
    const { account, connectionKeys, lidOf } = this.#deps
    const { devices, identities } = account
    // Sessions and groups may know the person by the LID alone.
    const lid = person.lid === null ? await lidOf(from).catch(ignoreRejection) : undefined
    const whole = personOf(from, lid) ?? person
    const device = jidDecode(from)?.device ?? 0
    const users = await connectionKeys.runStep(async () => {
      // A new phone means new companions. The library would open one new session, but not in the backlog, and not durably.
      await identities.dropSessionsInStep(whole, (one) => device === 0 || one === device)
      await identities.forgetTokenInStep(whole)
      return identities.noteInStep(whole)
    })
    devices.delAll(users)
  }
}

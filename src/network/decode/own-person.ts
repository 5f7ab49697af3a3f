// The addresses of the account itself. Every message is compared with them several times, so they are parsed once.

import type { Person } from '../../core/address.ts'
import type { Jid } from '../../core/ids.ts'
import { personOf } from './origin.ts'
import type { AuthenticationCreds } from '../library/library.ts'

const remembered = new WeakMap<AuthenticationCreds, { id: Jid; lid: Jid | undefined; person: Person }>()

export function ownPerson(creds: AuthenticationCreds): Person {
  const { id = '', lid } = creds.me ?? {}
  const known = remembered.get(creds)
  if (known?.id === id && known.lid === lid) return { ...known.person }
  const person = personOf(id, lid) ?? { phone: null, lid: null }
  remembered.set(creds, { id, lid, person })
  return { ...person }
}

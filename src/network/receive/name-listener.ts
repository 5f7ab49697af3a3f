// Names and pairs of addresses as the library hears of them: from the address book of the phone, from history, from the server.

import type { PersonNames, PersonPair, Reception } from '../../core/network.ts'
import { runOutside } from '../connection/fault-isolation.ts'
import { cleanName } from '../decode/clean.ts'
import { personOf } from '../decode/origin.ts'
import type { Contact, WASocket } from '../library/library.ts'

type Deps = { instance: string; reception: Partial<Reception> }

export class NameListener {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  listen({ ev, signalRepository }: WASocket): void {
    // Only the address book speaks so; a contact without a name was taken out of it.
    ev.on('contacts.upsert', (contacts) => {
      this.#tell(contacts, null)
    })
    ev.on('contacts.update', (contacts) => {
      this.#tell(contacts)
    })
    ev.on('messaging-history.set', ({ contacts }) => {
      this.#tell(contacts)
    })
    const { lidMapping } = signalRepository
    const store = lidMapping.storeLIDPNMappings.bind(lidMapping)
    lidMapping.storeLIDPNMappings = async (pairs) => {
      this.#tellPairs(pairs.flatMap(({ lid, pn }) => pairOf(lid, pn) ?? []))
      await store(pairs)
    }
  }

  #tell(contacts: readonly Partial<Contact>[], withoutName?: null): void {
    const names = contacts.flatMap((contact) => namesOf(contact, withoutName) ?? [])
    const { instance, reception } = this.#deps
    if (names.length > 0) runOutside(() => reception.onNames?.(instance, names))
    this.#tellPairs(contacts.flatMap(({ id, lid, phoneNumber }) => pairOf(id, lid, phoneNumber) ?? []))
  }

  #tellPairs(pairs: readonly PersonPair[]): void {
    const { instance, reception } = this.#deps
    if (pairs.length > 0) runOutside(() => reception.onPairs?.(instance, pairs))
  }
}

function namesOf(
  { id, lid, phoneNumber, name, notify }: Partial<Contact>,
  withoutName: null | undefined,
): PersonNames | undefined {
  const person = personOf(id, lid, phoneNumber)
  const savedName = name ? cleanName(name) : withoutName
  if (!person || (savedName === undefined && !notify)) return undefined
  return { person, ...(notify && { pushName: cleanName(notify) }), ...(savedName !== undefined && { savedName }) }
}

function pairOf(...jids: (string | undefined)[]): PersonPair | undefined {
  const { phone, lid } = personOf(...jids) ?? {}
  return phone && lid ? { phone, lid } : undefined
}

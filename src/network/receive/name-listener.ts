// Reports names and pairs of addresses that the library learns from the phone's address book, the history and the server.

import type { InstanceName, Jid } from '../../core/ids.ts'
import type { PersonNames, PersonPair, Reception } from '../../core/network.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import { runOutside } from '../connection/fault-isolation.ts'
import { cleanName } from '../decode/clean.ts'
import { personOf } from '../decode/origin.ts'
import type { Contact, WASocket } from '../library/library.ts'

type Deps = { instance: InstanceName; reception: Partial<Reception> }
/** `withoutName` is the saved name of a contact that comes without one. */
type Report = { withoutName?: null; isFullSync?: boolean }

/** The collection of the app state that holds the address book. */
const addressBook = 'critical_unblock_low'

export class NameListener {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  listen({ ev, signalRepository, authState: { keys } }: WASocket): void {
    // Without a stored version the address book was never read. Its first report then has everybody in it: the library emits an
    // event for each person, all in one turn of the event loop.
    let isFirstSync = true
    void Promise.resolve(keys.get('app-state-sync-version', [addressBook])).then((versions) => {
      isFirstSync &&= !versions[addressBook]
    }, ignoreRejection)
    // This event comes only from the address book. A contact without a name was removed from it.
    ev.on('contacts.upsert', (contacts) => {
      this.#report(contacts, { withoutName: null, isFullSync: isFirstSync })
      if (isFirstSync) setImmediate(() => (isFirstSync = false))
    })
    ev.on('contacts.update', (contacts) => {
      this.#report(contacts, {})
    })
    ev.on('messaging-history.set', ({ contacts }) => {
      this.#report(contacts, { isFullSync: true })
    })
    const { lidMapping } = signalRepository
    const store = lidMapping.storeLIDPNMappings.bind(lidMapping)
    lidMapping.storeLIDPNMappings = async (pairs) => {
      this.#reportPairs(pairs.flatMap(({ lid, pn }) => pairOf(lid, pn) ?? []))
      await store(pairs)
    }
  }

  #report(contacts: readonly Partial<Contact>[], { withoutName, isFullSync = false }: Report): void {
    const named = contacts.flatMap((contact) => namesOf(contact, withoutName) ?? [])
    const names = isFullSync ? named.map((each) => ({ ...each, isFullSync })) : named
    const { instance, reception } = this.#deps
    if (names.length > 0) runOutside(() => reception.onNames?.(instance, names))
    this.#reportPairs(contacts.flatMap(({ id, lid, phoneNumber }) => pairOf(id, lid, phoneNumber) ?? []))
  }

  #reportPairs(pairs: readonly PersonPair[]): void {
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

function pairOf(...jids: (Jid | undefined)[]): PersonPair | undefined {
  const { phone, lid } = personOf(...jids) ?? {}
  return phone && lid ? { phone, lid } : undefined
}

// Reports names and pairs of addresses that the library learns from the phone's address book, the history and the server.

import type { InstanceName, Jid } from '../../core/ids.ts'
import type { PersonNames, PersonPair, Reception } from '../../core/network/reception.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import { runOutside } from '../connection/fault-isolation.ts'
import { cleanName } from '../decode/clean.ts'
import { personOf } from '../decode/origin.ts'
import type { Contact, WASocket } from '../library/library.ts'
import { addressBook, AddressBookNotes } from './address-book-notes.ts'

type Deps = { instance: InstanceName; reception: Partial<Reception>; clock: Clock }
/** `withoutName` is the saved name of a contact that comes without one. */
type Report = { withoutName?: null; isFullSync?: boolean }

/** A name that a person goes on using is reported again after this time. */
const heardMs = 3_600_000
const mostHeard = 500

export class NameListener {
  readonly #deps: Deps
  /** What people call themselves in their messages, by their addresses. */
  readonly #heard: BoundedMap<string>
  readonly #socket: WASocket
  readonly #notes: AddressBookNotes
  /**
   * Without a stored version the address book was never read. Its first report then has everybody in it: the library emits an
   * event for each person, all in one turn of the event loop.
   */
  #isFirstSync = true

  constructor(deps: Deps, socket: WASocket) {
    this.#deps = deps
    this.#socket = socket
    this.#notes = new AddressBookNotes(socket)
    this.#heard = new BoundedMap({ clock: deps.clock, max: mostHeard, ttlMs: heardMs })
  }

  listen(): void {
    const { ev, signalRepository, authState } = this.#socket
    void Promise.resolve(authState.keys.get('app-state-sync-version', [addressBook])).then((versions) => {
      this.#isFirstSync &&= !versions[addressBook]
    }, ignoreRejection)
    // This event comes only from the address book. A contact without a name was removed from it.
    ev.on('contacts.upsert', (contacts) => {
      this.#notes.follow(this.#report(contacts, { withoutName: null, isFullSync: this.#isFirstSync }))
      if (this.#isFirstSync) setImmediate(() => (this.#isFirstSync = false))
    })
    ev.on('contacts.update', (contacts) => {
      this.#report(contacts, {}).catch(ignoreRejection)
    })
    ev.on('messaging-history.set', ({ contacts }) => {
      this.#report(contacts, { isFullSync: true }).catch(ignoreRejection)
    })
    const { lidMapping } = signalRepository
    const store = lidMapping.storeLIDPNMappings.bind(lidMapping)
    lidMapping.storeLIDPNMappings = async (pairs) => {
      this.#reportPairs(pairs.flatMap(({ lid, pn }) => pairOf(lid, pn) ?? []))
      await store(pairs)
    }
  }

  /** A person calls themselves this in a message. Every message tells it, so it is reported only when it is news. */
  heard(id: Jid, notify: string): void {
    if (this.#heard.get(id) === notify) return
    this.#heard.set(id, notify)
    this.#report([{ id, notify }], {}).catch(() => this.#heard.delete(id))
  }

  /** Reads the address book again if names of it were told and not stored. */
  readMissed(): Promise<void> {
    return this.#notes.readMissed(() => (this.#isFirstSync = true))
  }

  /** Resolves when the names are stored. */
  async #report(contacts: readonly Partial<Contact>[], { withoutName, isFullSync = false }: Report): Promise<void> {
    const named = contacts.flatMap((contact) => namesOf(contact, withoutName) ?? [])
    const names = isFullSync ? named.map((each) => ({ ...each, isFullSync })) : named
    const { instance, reception } = this.#deps
    const storing = names.length > 0 ? runOutside(() => reception.onNames?.(instance, names)) : undefined
    this.#reportPairs(contacts.flatMap(({ id, lid, phoneNumber }) => pairOf(id, lid, phoneNumber) ?? []))
    await storing
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

// Reads all contacts of a helpdesk inbox, page by page, and what we and the network know of them.
//
// Of each contact only a few short facts are kept: about 300 bytes, so 30 MB for 100,000 contacts. A page is forgotten before the
// next one is read.

import { groupJid, lidJid, phoneJid } from '../../../core/address.ts'
import type { Person } from '../../../core/address.ts'
import type { ListedContact } from '../../../core/helpdesk/contact.ts'
import { BridgeError } from '../../../core/errors.ts'
import { phoneVariants } from '../../../core/phone-variants.ts'
import type { ContactStore, KnownContact } from '../../../storage/stores/people/contact-store.ts'
import type { PeopleStore, PersonRecord } from '../../../storage/stores/people/people-store.ts'
import { identityOf, isSameNumber } from './contact-identity.ts'
import type { ContactIdentity } from './contact-identity.ts'
import type { ScannedContact, StatedPeople } from './find-pairs.ts'
import type { ContactsPlace, HelpdeskRequests } from './helpdesk-requests.ts'

type Deps = {
  requests: Pick<HelpdeskRequests, 'ask'>
  people: Pick<PeopleStore, 'findAll'>
  contacts: Pick<ContactStore, 'findContacts'>
}

/** Our rows name a contact that has lost its address to another one: the helpdesk may have merged the two. */
export type MovedAddress = { from: number; to: number }

export type Scanned = {
  /** How many contacts the helpdesk inbox has. */
  count: number
  /** Those that stand for a person or a group of the network. */
  contacts: readonly ScannedContact[]
  stated: StatedPeople
  moved: readonly MovedAddress[]
  /** Whether the helpdesk inbox has the contact. */
  has(contactId: number): boolean
}

type Identified = { listed: ListedContact; identity: ContactIdentity }

/** More contacts than this would take too much memory. */
const mostContacts = 200_000
/** Shared, because most contacts have none. */
const none: readonly string[] = []

export class ContactScan {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async run(place: ContactsPlace, signal: AbortSignal, onPage: (count: number) => void): Promise<Scanned> {
    const { requests } = this.#deps
    const result = new ScanResult()
    for (let number = 1; ; number++) {
      const page = await requests.ask(place, ({ helpdesk }) => helpdesk.contactsPage(number), signal)
      // A contact that is created meanwhile moves others to the next page.
      const fresh = page.contacts.filter(({ id }) => result.isNew(id))
      await this.#read(fresh, place, result)
      signal.throwIfAborted()
      if (result.count > mostContacts) throw tooMany()
      onPage(result.count)
      if (page.isLast) return result
    }
  }

  async #read(listed: readonly ListedContact[], { instance, destination }: ContactsPlace, result: ScanResult) {
    const identified = listed.flatMap((each) => {
      const identity = identityOf(each)
      return identity ? [{ listed: each, identity }] : []
    })
    const people = identified.flatMap(({ identity }) => addressesOf(identity))
    const records = people.length === 0 ? [] : await this.#deps.people.findAll(instance, people)
    const sourceIds = identified.flatMap((each) => each.listed.sourceIds)
    const known = await this.#deps.contacts.findContacts(destination, sourceIds)
    for (const record of records) result.noteRecord(record)
    for (const each of identified) result.add(each, known, records)
  }
}

class ScanResult implements Scanned {
  readonly contacts: ScannedContact[] = []
  readonly stated = { phoneOfLid: new Map<string, string>(), spellings: new Set<string>() }
  readonly moved: MovedAddress[] = []
  readonly #seen = new Set<number>()

  get count(): number {
    return this.#seen.size
  }

  has(contactId: number): boolean {
    return this.#seen.has(contactId)
  }

  isNew(id: number): boolean {
    const { size } = this.#seen
    return this.#seen.add(id).size > size
  }

  noteRecord({ phone, lid }: PersonRecord): void {
    if (phone === null) return
    this.stated.spellings.add(phone)
    if (lid !== null) this.stated.phoneOfLid.set(lid, phone)
  }

  add({ listed, identity }: Identified, known: readonly KnownContact[], records: readonly PersonRecord[]): void {
    const own = known.filter(({ sourceId }) => listed.sourceIds.includes(sourceId))
    for (const { contactId } of own) if (contactId !== listed.id) this.moved.push({ from: contactId, to: listed.id })
    if (!hasOneNumber(identity, records)) return
    const { id, identifier, elsewhere, isBlocked, email } = listed
    this.contacts.push({
      ...{ id, ...addressOf(identity), isUsed: own.length > 0 },
      ...{ hasOurIdentifier: identifier === ourIdentifier(identity), elsewhere, isBlocked, email },
    })
  }
}

/** A number that the person had before does not count. Any other second number makes the contact unclear. */
function hasOneNumber(identity: ContactIdentity, records: readonly PersonRecord[]): boolean {
  if (identity.kind === 'group' || identity.otherPhones.length === 0) return true
  const { phone: number, otherPhones } = identity
  const own = records.find(({ phone }) => phone !== null && number !== null && isSameNumber(phone, number))
  return otherPhones.every((each) => own?.formerPhones.some((former) => isSameNumber(former, each)) ?? false)
}

type ScannedAddress = Pick<ScannedContact, 'group' | 'phone' | 'isConfirmed' | 'lids' | 'formerPhones'>

function addressOf(identity: ContactIdentity): ScannedAddress {
  const empty = { lids: none, formerPhones: none }
  if (identity.kind === 'group') return { group: identity.id, phone: null, isConfirmed: false, ...empty }
  const { phone, isConfirmed, lids, otherPhones } = identity
  const some = { ...(lids.length > 0 && { lids }), ...(otherPhones.length > 0 && { formerPhones: otherPhones }) }
  return { group: null, phone, isConfirmed, ...empty, ...some }
}

function ourIdentifier(identity: ContactIdentity): string {
  if (identity.kind === 'group') return groupJid(identity.id)
  return identity.phone === null ? lidJid(identity.lids[0] ?? '') : phoneJid(identity.phone)
}

/** Everything under which the person may be stored, each spelling of the number included. */
function addressesOf(identity: ContactIdentity): Person[] {
  if (identity.kind === 'group') return []
  const { phone, lids } = identity
  const phones = phone === null ? [] : phoneVariants(phone)
  return [...phones.map((each) => ({ phone: each, lid: null })), ...lids.map((lid) => ({ phone: null, lid }))]
}

function tooMany(): BridgeError {
  const sentence = `the helpdesk inbox has more than ${mostContacts} contacts: the service cannot repair so many`
  return new BridgeError('SERVICE_HELPDESK_FAILED', sentence)
}

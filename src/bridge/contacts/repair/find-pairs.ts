// Finds the contacts that are one person, and decides which of them stays.
//
// A contact belongs to its phone number. A contact without one belongs to the phone number of its anonymous id, if the network
// or another contact names it, and otherwise to the anonymous id. So contacts with different phone numbers are never a pair. A
// contact whose anonymous id has another phone number, as the network states it, belongs to no person. The result does not depend
// on the order of the contacts.

import type { PairReason, PairRefusal } from '../../../core/jobs/contacts-jobs.ts'
import { phoneVariants } from '../../../core/phone-variants.ts'
import { eventLoopShare } from '../../../lib/event-loop-share.ts'
import { getOrCreate } from '../../../lib/keyed.ts'

/** What the scan keeps of a contact: it must be little, because a helpdesk may have 100,000 of them. */
export type ScannedContact = {
  id: number
  group: string | null
  /** E.164 without the plus. */
  phone: string | null
  /** The spelling of the phone number stands in an address of the network. */
  isConfirmed: boolean
  lids: readonly string[]
  /** Numbers that the person had before, as far as the contact names them. */
  formerPhones: readonly string[]
  /** The service posts to this contact. */
  isUsed: boolean
  /** The identifier is the one that the service would give. */
  hasOurIdentifier: boolean
  /** The contact is in other inboxes too. */
  elsewhere: boolean
  isBlocked: boolean
  email: string | null
}

/** What the network has stated of people. */
export type StatedPeople = {
  /** The phone number of an anonymous id. */
  phoneOfLid: ReadonlyMap<string, string>
  /** The phone numbers that the network uses, in its spelling. */
  spellings: ReadonlySet<string>
}

/** `refusal` says why the two are not merged although they may be one person. */
export type ContactPair = {
  keep: ScannedContact
  drop: ScannedContact
  reason: PairReason
  refusal: PairRefusal | null
  /** What the contacts of the person name beside the phone number. */
  known: { lids: readonly string[]; formerPhones: readonly string[] }
}

/** A contact, and its phone number in the spelling that is known of it; null when only the number is known. */
type Member = { contact: ScannedContact; spelling: string | null }

/** So many contacts or people take less than a millisecond. */
const atATime = 50

/** Shares the event loop: many contacts take seconds. */
export async function findPairs(contacts: readonly ScannedContact[], stated: StatedPeople): Promise<ContactPair[]> {
  const numbers = new Map<string, string | null>()
  await inTurns(contacts, (contact) => {
    noteNumbers(contact, stated, numbers)
  })
  const people = new Map<string, Member[]>()
  await inTurns(contacts, (contact) => {
    const key = keyOf(contact, numbers, stated)
    const member = { contact, spelling: contact.phone ?? statedSpelling(contact, stated) }
    if (key !== undefined) getOrCreate(people, key, () => []).push(member)
  })
  const pairs: ContactPair[] = []
  await inTurns(people.values(), (members) => {
    if (members.length > 1) pairs.push(...pairsOf(members, stated))
  })
  return pairs.sort(byIds)
}

async function inTurns<T>(all: Iterable<T>, work: (each: T) => void): Promise<void> {
  let count = 0
  for (const each of all) {
    if (count++ % atATime === 0) await eventLoopShare.next()
    work(each)
  }
}

/** `numbers` has one spelling of the number of each anonymous id; null when it is named together with different numbers. */
function noteNumbers(
  { phone, lids }: ScannedContact,
  { phoneOfLid }: StatedPeople,
  numbers: Map<string, string | null>,
): void {
  for (const lid of lids) {
    const stated = phoneOfLid.get(lid)
    const known = numbers.get(lid)
    if (stated !== undefined) numbers.set(lid, numberOf(stated))
    else if (phone !== null) numbers.set(lid, known === undefined || known === numberOf(phone) ? numberOf(phone) : null)
  }
}

/** Undefined when the contact does not belong to exactly one person. */
function keyOf(
  { group, phone, lids }: ScannedContact,
  numbers: ReadonlyMap<string, string | null>,
  { phoneOfLid }: StatedPeople,
) {
  if (group !== null) return `group ${group}`
  if (phone !== null) {
    const isOther = (lid: string) => numberOf(phoneOfLid.get(lid) ?? phone) !== numberOf(phone)
    return lids.some(isOther) ? undefined : `phone ${numberOf(phone)}`
  }
  const named = new Set(lids.flatMap((lid) => (numbers.has(lid) ? [numbers.get(lid) ?? null] : [])))
  if (named.size > 1 || named.has(null)) return undefined
  const [number] = named
  if (number !== undefined) return `phone ${number}`
  return lids.length === 1 ? `lid ${lids[0] ?? ''}` : undefined
}

/** All spellings of a number give the same text. */
function numberOf(phone: string): string {
  return phoneVariants(phone).reduce((one, other) => (one < other ? one : other))
}

function statedSpelling({ lids }: ScannedContact, { phoneOfLid }: StatedPeople): string | null {
  const stated = new Set(lids.flatMap((lid) => phoneOfLid.get(lid) ?? []))
  const [spelling = null] = stated
  return stated.size === 1 ? spelling : null
}

function pairsOf(members: readonly Member[], stated: StatedPeople): ContactPair[] {
  const spellings = [...new Set(members.flatMap(({ spelling }) => spelling ?? []))].sort()
  if (spellings.length < 2) return pairsInto(members, spellings[0] ?? null, stated)
  const ruling = networkSpelling(members, spellings, stated)
  if ('spelling' in ruling) return pairsInto(members, ruling.spelling, stated)
  const apart = spellings.map((spelling) => members.filter((member) => member.spelling === spelling))
  const within = apart.flatMap((some, index) => pairsInto(some, spellings[index] ?? null, stated))
  const survivors = apart.flatMap((some, index) => inOrder(some, spellings[index] ?? null)[0] ?? [])
  const [keep, drop] = survivors.sort((one, other) => one.id - other.id)
  if (!keep || !drop) return within
  return [...within, { keep, drop, reason: 'mobile_variants', refusal: ruling.refusal, known: knownOf(members) }]
}

/** Two spellings are one person if the network uses only one of them. */
function networkSpelling(
  members: readonly Member[],
  spellings: readonly string[],
  stated: StatedPeople,
): { spelling: string } | { refusal: PairRefusal } {
  const used = spellings.filter((each) => stated.spellings.has(each))
  if (used.length > 1) return { refusal: 'two_accounts' }
  const isConfirmed = (each: string) =>
    members.some(({ contact, spelling }) => spelling === each && contact.isConfirmed)
  const candidates = used.length === 1 ? used : spellings.filter(isConfirmed)
  const [spelling] = candidates
  return candidates.length === 1 && spelling !== undefined ? { spelling } : { refusal: 'spelling_unknown' }
}

/** Every contact is merged into the first one, as far as the rules allow it. */
function pairsInto(members: readonly Member[], spelling: string | null, stated: StatedPeople): ContactPair[] {
  const [keep, ...others] = inOrder(members, spelling)
  if (!keep) return []
  let { email } = keep
  const known = knownOf(members)
  return others.map((drop) => {
    const refusal = judgePair({ ...keep, email }, drop)
    // The helpdesk gives the contact that stays what it lacks.
    if (refusal === null) email ??= drop.email
    return { keep, drop, reason: reasonOf(keep, drop, stated), refusal, known }
  })
}

function knownOf(members: readonly Member[]): ContactPair['known'] {
  const contacts = members.map(({ contact }) => contact)
  return { lids: contacts.flatMap(({ lids }) => lids), formerPhones: contacts.flatMap((each) => each.formerPhones) }
}

/** The contact that stays is first. A contact of another inbox can only stay: programs that use that inbox know its id. */
function inOrder(members: readonly Member[], spelling: string | null): ScannedContact[] {
  const rank = ({ elsewhere, isUsed, phone, hasOurIdentifier }: ScannedContact) => {
    const virtues = [elsewhere, isUsed, phone !== null, phone === spelling, hasOurIdentifier]
    return virtues.reduce((sum, has) => 2 * sum + (has ? 1 : 0), 0)
  }
  return members.map(({ contact }) => contact).sort((one, other) => rank(other) - rank(one) || one.id - other.id)
}

/** Null when the two may be merged. */
export function judgePair(
  keep: Pick<ScannedContact, 'email' | 'isBlocked'>,
  drop: Pick<ScannedContact, 'email' | 'isBlocked' | 'elsewhere'>,
): PairRefusal | null {
  if (drop.elsewhere) return 'in_other_inbox'
  const emails = new Set([keep.email, drop.email].flatMap((email) => email?.trim().toLowerCase() ?? []))
  if (emails.size > 1) return 'different_emails'
  return keep.isBlocked === drop.isBlocked ? null : 'one_is_blocked'
}

function reasonOf(keep: ScannedContact, drop: ScannedContact, { phoneOfLid }: StatedPeople): PairReason {
  if (keep.phone !== null && drop.phone !== null) return keep.phone === drop.phone ? 'same_address' : 'mobile_variants'
  if (keep.group !== null || keep.lids.some((lid) => drop.lids.includes(lid))) return 'same_address'
  const lids = [keep, drop].flatMap(({ phone, lids: all }) => (phone === null ? all : []))
  return lids.some((lid) => phoneOfLid.has(lid)) ? 'phone_and_lid' : 'same_address'
}

function byIds(one: ContactPair, other: ContactPair): number {
  return one.keep.id - other.keep.id || one.drop.id - other.drop.id
}

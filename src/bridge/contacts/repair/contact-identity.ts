// Says for whom a contact of a helpdesk inbox stands, by everything that the service, another bridge or an agent wrote into it.

import type { Chat } from '../../../core/address.ts'
import type { ListedContact } from '../../../core/helpdesk/contact.ts'
import { namedInstance } from '../../../core/helpdesk/operations-contact.ts'
import { formsOf, otherBridges } from '../../../core/other-bridges/other-bridges.ts'
import { phoneVariants } from '../../../core/phone-variants.ts'
import { chatOfSourceId } from '../../conversations/contact-spec.ts'

type PersonIdentity = {
  kind: 'person'
  /** E.164 without the plus. Null for a person of whom only anonymous ids are known. */
  phone: string | null
  /** The spelling of the phone number stands in an address of the network. Agents type other spellings. */
  isConfirmed: boolean
  /** Other numbers that the contact names, without other spellings of `phone`. */
  otherPhones: readonly string[]
  lids: readonly string[]
}

export type ContactIdentity = { kind: 'group'; id: string } | PersonIdentity

/** Undefined for a contact that stands for no chat of the network, or for more than one. */
export function identityOf(contact: ListedContact): ContactIdentity | undefined {
  if (isOfService(contact)) return undefined
  const forms = otherBridges.map((bridge) => formsOf[bridge].recognise(contact))
  if (forms.some(({ kind }) => kind === 'own')) return undefined
  const marked = forms.flatMap((form) => (form.kind === 'chat' && form.isMarked ? [form.chat] : []))
  const chats = [...marked, ...contact.sourceIds.flatMap((sourceId) => chatOfSourceId(sourceId) ?? [])]
  const groups = new Set(chats.flatMap((chat) => (chat.kind === 'group' ? [chat.id] : [])))
  if (groups.size === 0) return personOf(contact, chats)
  const [id = ''] = groups
  const isOnlyGroup = groups.size === 1 && contact.phone === null && chats.every(({ kind }) => kind === 'group')
  return isOnlyGroup ? { kind: 'group', id } : undefined
}

/** The spellings of both belong to the same number. */
export function isSameNumber(one: string, other: string): boolean {
  return phoneVariants(one).includes(other)
}

/** The operations contact of an instance. */
function isOfService({ identifier, sourceIds }: ListedContact): boolean {
  return [null, ...sourceIds].some((sourceId) => namedInstance({ identifier, sourceId }) !== undefined)
}

function personOf(contact: ListedContact, chats: readonly Chat[]): PersonIdentity | undefined {
  const people = chats.flatMap((chat) => (chat.kind === 'person' ? [chat] : []))
  const lids = [...new Set(people.flatMap(({ lid }) => lid ?? []))].sort()
  const confirmed = [...new Set(people.flatMap(({ phone }) => phone ?? []))]
  const shown = shownPhone(contact, lids)
  const number = shown ?? confirmed[0]
  if (number === undefined) return lids.length === 0 ? undefined : { ...withoutPhone, lids }
  const spellings = confirmed.filter((each) => isSameNumber(each, number))
  const phone = spellings.find((each) => each === number) ?? spellings[0] ?? number
  const otherPhones = confirmed.filter((each) => !isSameNumber(each, number)).sort()
  return { kind: 'person', phone, isConfirmed: spellings.length > 0, otherPhones, lids }
}

const withoutPhone = { kind: 'person', phone: null, isConfirmed: false, otherPhones: [] } as const

/** Evolution API makes a phone number of the digits of an anonymous id. No person has that number. */
function shownPhone({ phone }: ListedContact, lids: readonly string[]): string | undefined {
  const digits = /^\+([1-9]\d{4,14})$/.exec(phone ?? '')?.[1]
  return digits === undefined || lids.includes(digits) ? undefined : digits
}

// Contacts of the helpdesk.

export type ContactSpec = {
  /** Our own, stable name of the contact in the helpdesk inbox. */
  sourceId: string
  /** Earlier source ids of the same contact. */
  formerSourceIds: readonly string[]
  identifier: string
  /** Every spelling of the identifier, the identifier itself included. */
  identifiers: readonly string[]
  /** E.164 with the plus. */
  phone: string | null
  phones: readonly string[]
  name: string
}

export type Contact = {
  id: number
  name: string
  identifier: string | null
  phone: string | null
  /** The source id of the contact in this inbox. */
  sourceId: string
  /** Whether the contact is in other inboxes too. */
  elsewhere: boolean
  created: boolean
  /** The contact came into this inbox just now. Before, it could not have a conversation here. */
  isNewHere: boolean
}

/** A contact as the helpdesk shows it now. `thumbnail` is the address of its picture; every upload has another one. */
export type ShownContact = { id: number; name: string; thumbnail: string | null }

/** A contact of this inbox, as the helpdesk lists it. */
export type ListedContact = {
  id: number
  name: string
  identifier: string | null
  /** As the helpdesk has it: E.164 with the plus. */
  phone: string | null
  email: string | null
  isBlocked: boolean
  /** The addresses of the contact in this inbox. */
  sourceIds: readonly string[]
  /** Whether the contact is in other inboxes too. */
  elsewhere: boolean
  /** What operators and other programs noted of the contact, by name: only texts. */
  attributes: Readonly<Record<string, string>>
}

/** One page of all contacts of the account; `contacts` are those of this inbox. */
export type ContactsPage = { contacts: readonly ListedContact[]; isLast: boolean }

export type AvatarFile = { bytes: Buffer; mimeType: string; fileName: string }

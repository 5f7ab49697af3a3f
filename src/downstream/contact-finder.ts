// Finds the contact of a chat in Chatwoot by exact match, takes a contact of another inbox into ours, or creates a contact.

import { DownstreamError } from '../core/downstream.ts'
import type { Contact, ContactSpec } from '../core/helpdesk/contact.ts'
import { beginningOf } from '../lib/text/beginning-of.ts'
import type { ChatwootClient } from './chatwoot-client.ts'
import { isElsewhere, readContact, readCreatedContact, sourceIdsIn } from './chatwoot-json.ts'
import type { FoundContact } from './chatwoot-json.ts'
import { filterAccount, searchAccount } from './contacts/account-contacts.ts'
import { Refusal } from './failures.ts'

const longestName = 255

export async function ensureContact(client: ChatwootClient, spec: ContactSpec, isKnown: boolean): Promise<Contact> {
  const found = isKnown ? await findAnywhere(client, spec) : await findUnknown(client, spec)
  return found ?? createContact(client, spec)
}

/** The fields of a contact as Chatwoot names them. */
export function contactFields(fields: { name?: string; phone?: string | null; identifier?: string }): object {
  const { name, phone, identifier } = fields
  const valid = validPhone(phone ?? null)
  return {
    ...(name !== undefined && { name: beginningOf(name, longestName) }),
    ...(identifier !== undefined && { identifier }),
    ...(valid !== null && { phone_number: valid }),
  }
}

/** An address tells the contact also after agents have merged it into another one, or have changed its number. */
async function findAnywhere(client: ChatwootClient, spec: ContactSpec): Promise<Contact | undefined> {
  const here = await findInInbox(client, spec)
  if (here) return here
  const found = await filterAccount(client, spec)
  return found && takeIn(client, spec, found)
}

/**
 * Asks for identifiers and phone numbers first, which most often shows at once that there is no contact. Chatwoot itself refuses
 * a new contact if another one has the address.
 */
async function findUnknown(client: ChatwootClient, spec: ContactSpec): Promise<Contact | undefined> {
  const found = await filterAccount(client, spec)
  if (!found) return findUnasked(client, spec)
  const here = sourceIdsIn(client.destination.inboxId, found)
  if (here.includes(spec.sourceId)) return toContact(client, found, spec.sourceId)
  // Another contact may have the address, and goes before one with a former address.
  if (here.some((each) => spec.formerSourceIds.includes(each))) return findInInbox(client, spec)
  return takeIn(client, spec, found)
}

/** The filter did not ask for some former addresses: an anonymous id, whose contact it may hide, and numbers of before. */
async function findUnasked(client: ChatwootClient, spec: ContactSpec): Promise<Contact | undefined> {
  const unasked = spec.formerSourceIds.filter((each) => !spec.phones.includes(`+${each}`))
  for (const sourceId of unasked) {
    if (await findBySourceId(client, sourceId)) return findInInbox(client, spec)
  }
  return undefined
}

async function findInInbox(client: ChatwootClient, spec: ContactSpec): Promise<Contact | undefined> {
  for (const sourceId of [spec.sourceId, ...spec.formerSourceIds]) {
    const found = await findBySourceId(client, sourceId)
    if (found) return toContact(client, found, sourceId)
  }
  return undefined
}

export async function findBySourceId(client: ChatwootClient, sourceId: string): Promise<FoundContact | undefined> {
  const json = { inbox_id: client.destination.inboxId, source_id: sourceId }
  const path = '/contact_inboxes/filter'
  try {
    return await client.ask({ method: 'POST', path, about: 'contact address', json, read: readContact })
  } catch (error) {
    if (error instanceof DownstreamError && error.failure === 'gone') return undefined
    throw error
  }
}

/** False when another contact of the inbox has the source id. Nothing changes when this contact has it. */
export async function addAddress(client: ChatwootClient, contactId: number, sourceId: string): Promise<boolean> {
  try {
    await postAddress(client, contactId, sourceId)
    return true
  } catch (error) {
    const owner = error instanceof Refusal && error.status === 500 ? await findBySourceId(client, sourceId) : undefined
    if (owner) return owner.id === contactId
    throw error
  }
}

async function postAddress(client: ChatwootClient, contactId: number, sourceId: string): Promise<void> {
  const path = `/contacts/${contactId}/contact_inboxes`
  const json = { inbox_id: client.destination.inboxId, source_id: sourceId }
  await client.ask({ method: 'POST', path, about: 'contact', json, read: (answer) => answer ?? undefined })
}

async function takeIn(client: ChatwootClient, spec: ContactSpec, found: FoundContact): Promise<Contact | undefined> {
  const { sourceId } = spec
  try {
    await postAddress(client, found.id, sourceId)
    return { ...toContact(client, found, sourceId), isNewHere: isOutside(client, found) }
  } catch (error) {
    // Another contact may have the address by now.
    if (error instanceof Refusal && error.status === 500) {
      const owner = await findInInbox(client, spec)
      if (owner) return owner
    }
    // Chatwoot answers the same 404 for a missing contact and for a missing inbox.
    if (error instanceof Refusal && error.failure === 'gone') await client.probe()
    throw error
  }
}

async function createContact(client: ChatwootClient, spec: ContactSpec): Promise<Contact> {
  const fields = contactFields({ name: spec.name, identifier: spec.identifier, phone: spec.phone })
  const json = { ...fields, inbox_id: client.destination.inboxId, source_id: spec.sourceId }
  try {
    const created = await client.ask({
      method: 'POST',
      path: '/contacts',
      about: 'inbox',
      json,
      read: readCreatedContact,
    })
    return { ...toContact(client, created.contact, created.sourceId), created: true, isNewHere: true }
  } catch (error) {
    // 422: a validation found another contact. 500: the unique index did, which two callers at the same time can cause.
    if (!(error instanceof Refusal) || (error.status !== 422 && error.status !== 500)) throw error
    const found = await adopt(client, spec, error)
    if (found) return found
    throw error
  }
}

/** A taken identifier or phone number belongs to this person: the contact that has it is found, or nothing is created. */
async function adopt(client: ChatwootClient, spec: ContactSpec, { attributes }: Refusal): Promise<Contact | undefined> {
  const found = await findAnywhere(client, spec)
  if (found) return found
  const searched = await searchAccount(client, spec, [
    ...(attributes.includes('identifier') ? spec.identifiers : []),
    ...(attributes.includes('phone_number') ? spec.phones : []),
  ])
  return searched && takeIn(client, spec, searched)
}

function toContact(client: ChatwootClient, found: FoundContact, sourceId: string): Contact {
  const { id, name, identifier, phone } = found
  const elsewhere = isElsewhere(client.destination.inboxId, found)
  return { id, name, identifier, phone, sourceId, elsewhere, created: false, isNewHere: false }
}

/** The contact has no address in our inbox. False when the answer does not tell its addresses. */
function isOutside({ destination }: ChatwootClient, { addresses }: FoundContact): boolean {
  return addresses?.every(({ inboxId }) => inboxId !== destination.inboxId) ?? false
}

function validPhone(phone: string | null): string | null {
  return phone !== null && /^\+[1-9]\d{1,14}$/.test(phone) ? phone : null
}

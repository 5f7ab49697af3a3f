// Finds the contact of a chat in Chatwoot by exact match, takes a contact of another inbox into ours, or creates a contact.

import { DownstreamError } from '../core/downstream.ts'
import type { Contact, ContactSpec } from '../core/helpdesk/contact.ts'
import { beginningOf } from '../lib/text/beginning-of.ts'
import type { ChatwootClient } from './chatwoot-client.ts'
import { readContact, readContacts, readCreatedContact } from './chatwoot-json.ts'
import type { FoundContact } from './chatwoot-json.ts'
import { Refusal } from './failures.ts'

const longestName = 255

export async function ensureContact(client: ChatwootClient, spec: ContactSpec): Promise<Contact> {
  return (await findAnywhere(client, spec)) ?? (await createContact(client, spec))
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

async function findAnywhere(client: ChatwootClient, spec: ContactSpec): Promise<Contact | undefined> {
  const here = await findInInbox(client, spec)
  if (here) return here
  const found = await findInAccount(client, spec)
  return found && takeIn(client, spec, found)
}

async function findInInbox(client: ChatwootClient, spec: ContactSpec): Promise<Contact | undefined> {
  for (const sourceId of [spec.sourceId, ...spec.formerSourceIds]) {
    const found = await findBySourceId(client, sourceId)
    if (found) return toContact(client, found, sourceId, false)
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

async function findInAccount(client: ChatwootClient, spec: ContactSpec): Promise<FoundContact | undefined> {
  const conditions = [
    ...spec.identifiers.map((value) => ({ attribute_key: 'identifier', values: [value] })),
    // The filter adds a plus of its own. Versions before 4.8 also add it to a number that has one.
    ...spec.phones.map((value) => ({ attribute_key: 'phone_number', values: [value.replace(/^\+/, '')] })),
  ]
  if (conditions.length === 0) return undefined
  const payload = conditions.map((condition, index) => ({
    ...condition,
    filter_operator: 'equal_to',
    query_operator: index < conditions.length - 1 ? 'OR' : null,
  }))
  const path = '/contacts/filter?sort=created_at'
  return best(spec, await client.ask({ method: 'POST', path, about: 'inbox', json: { payload }, read: readContacts }))
}

/** The filter hides contacts without phone and e-mail from accounts with the newer contact list; the search does not. */
async function searchAccount(
  client: ChatwootClient,
  spec: ContactSpec,
  texts: readonly string[],
): Promise<Contact | undefined> {
  for (const text of texts) {
    const path = `/contacts/search?q=${encodeURIComponent(text)}`
    const found = best(spec, await client.ask({ method: 'GET', path, about: 'inbox', read: readContacts }))
    if (found) return takeIn(client, spec, found)
  }
  return undefined
}

/** The contact that matches best; among equals the oldest. */
function best(spec: ContactSpec, found: readonly FoundContact[]): FoundContact | undefined {
  const identifiers = spec.identifiers.map((each) => each.toLowerCase())
  const names = [...identifiers, ...spec.phones]
  const rank = ({ identifier, phone }: FoundContact) => {
    const ranks = [names.indexOf(identifier?.toLowerCase() ?? ''), names.indexOf(phone ?? '')]
    return Math.min(...ranks.map((each) => (each < 0 ? Infinity : each)))
  }
  return found
    .filter((each) => rank(each) < Infinity)
    .sort((a, b) => rank(a) - rank(b) || a.id - b.id)
    .at(0)
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
    return toContact(client, found, sourceId, false)
  } catch (error) {
    // Another contact may have the address by now.
    if (error instanceof Refusal && error.status === 500) {
      const owner = await findInInbox(client, spec)
      if (owner) return owner
    }
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
    return toContact(client, created.contact, created.sourceId, true)
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
  return searchAccount(client, spec, [
    ...(attributes.includes('identifier') ? spec.identifiers : []),
    ...(attributes.includes('phone_number') ? spec.phones : []),
  ])
}

function toContact(client: ChatwootClient, found: FoundContact, sourceId: string, created: boolean): Contact {
  const { inboxIds, ...contact } = found
  return { ...contact, sourceId, created, elsewhere: inboxIds.some((id) => id !== client.destination.inboxId) }
}

function validPhone(phone: string | null): string | null {
  return phone !== null && /^\+[1-9]\d{1,14}$/.test(phone) ? phone : null
}

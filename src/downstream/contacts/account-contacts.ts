// Finds the contact of a chat among all contacts of the account, by exact match.

import type { ContactSpec } from '../../core/helpdesk/contact.ts'
import type { ChatwootClient } from '../chatwoot-client.ts'
import { readContacts, sourceIdsIn } from '../chatwoot-json.ts'
import type { FoundContact } from '../chatwoot-json.ts'
import { Refusal } from '../failures.ts'

/** One question for every spelling of the identifier and of the phone number. */
export async function filterAccount(client: ChatwootClient, spec: ContactSpec): Promise<FoundContact | undefined> {
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
  try {
    const call = { method: 'POST', path, about: 'inbox', json: { payload }, read: readContacts } as const
    return best(client, spec, await client.ask(call))
  } catch (error) {
    // A Chatwoot without this filter, or without one of its fields, has the search.
    if (!(error instanceof Refusal) || (error.status !== 404 && error.status !== 422)) throw error
    return searchAccount(client, spec, [...spec.identifiers, ...spec.phones])
  }
}

/** The filter hides contacts without phone and e-mail from accounts with the newer contact list; the search does not. */
export async function searchAccount(
  client: ChatwootClient,
  spec: ContactSpec,
  texts: readonly string[],
): Promise<FoundContact | undefined> {
  for (const text of texts) {
    const path = `/contacts/search?q=${encodeURIComponent(text)}`
    const found = best(client, spec, await client.ask({ method: 'GET', path, about: 'inbox', read: readContacts }))
    if (found) return found
  }
  return undefined
}

/** The contact that matches best: first by an address in our inbox, then by identifier and phone. Among equals the oldest. */
function best({ destination }: ChatwootClient, spec: ContactSpec, found: readonly FoundContact[]) {
  const identifiers = spec.identifiers.map((each) => each.toLowerCase())
  const names = [spec.sourceId, ...spec.formerSourceIds, ...identifiers, ...spec.phones]
  const rank = (contact: FoundContact) => {
    const { identifier, phone } = contact
    const own = [...sourceIdsIn(destination.inboxId, contact), identifier?.toLowerCase() ?? '', phone ?? '']
    const index = names.findIndex((each) => own.includes(each))
    return index < 0 ? Infinity : index
  }
  return found
    .filter((each) => rank(each) < Infinity)
    .sort((a, b) => rank(a) - rank(b) || a.id - b.id)
    .at(0)
}

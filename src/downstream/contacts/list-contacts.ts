// Lists the contacts of the account page by page, and describes one of them in the same words.
//
// Such questions must not disturb messages: a failure here does not count as a failure of the destination.

import type { ContactsPage, ListedContact } from '../../core/helpdesk/contact.ts'
import type { ChatwootClient } from '../chatwoot-client.ts'
import { readContactsPage, readListed } from '../chatwoot-json.ts'
import { asObject } from '../json-values.ts'

/**
 * Chatwoot lists all contacts of the account, and without `sort` in no order. The newest come first: a contact that is created
 * meanwhile moves others to the next page, where they are listed again, and none is left out.
 */
export function contactsPage(client: ChatwootClient, page: number): Promise<ContactsPage> {
  const path = `/contacts?page=${page}&sort=-created_at`
  const { inboxId } = client.destination
  return client.askBeside({ method: 'GET', path, about: 'account', read: (json) => readContactsPage(json, inboxId) })
}

export function describeContact(client: ChatwootClient, id: number): Promise<ListedContact> {
  const { inboxId } = client.destination
  const read = (json: unknown) => readListed(asObject(json)['payload'], inboxId)
  return client.askBeside({ method: 'GET', path: `/contacts/${id}`, about: 'contact', read })
}

// Shows, replaces and removes the pictures of contacts, and lists the contacts page by page.
//
// Pictures must not disturb messages: a failure here does not count as a failure of the destination.

import type { AvatarFile, ContactsPage, ShownContact } from '../../core/downstream.ts'
import { multipart } from '../../lib/egress/multipart.ts'
import { anything } from '../chatwoot-calls.ts'
import type { ChatwootClient } from '../chatwoot-client.ts'
import { readContactsPage, readShownContact } from '../chatwoot-json.ts'

export function setAvatar(client: ChatwootClient, id: number, file: AvatarFile): Promise<ShownContact> {
  const { bytes, mimeType, fileName } = file
  return client.askBeside({
    method: 'PATCH',
    path: `/contacts/${id}`,
    about: 'contact',
    multipart: multipart([{ name: 'avatar', filename: fileName, type: mimeType, content: bytes }]),
    read: readShownContact,
  })
}

export async function removeAvatar(client: ChatwootClient, id: number): Promise<void> {
  await client.askBeside({ method: 'DELETE', path: `/contacts/${id}/avatar`, about: 'contact', read: anything })
}

/**
 * Chatwoot lists all contacts of the account, and without `sort` in no order. The newest come first: a contact that is created
 * meanwhile moves others to the next page, where they are listed again, and none is left out.
 */
export function contactsPage(client: ChatwootClient, page: number): Promise<ContactsPage> {
  const path = `/contacts?page=${page}&sort=-created_at`
  const { inboxId } = client.destination
  return client.askBeside({ method: 'GET', path, about: 'account', read: (json) => readContactsPage(json, inboxId) })
}

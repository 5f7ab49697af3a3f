// Shows, replaces and removes the pictures of contacts.
//
// Pictures must not disturb messages: a failure here does not count as a failure of the destination.

import type { AvatarFile, ShownContact } from '../../core/helpdesk/contact.ts'
import { multipart } from '../../lib/egress/multipart.ts'
import { anything } from '../chatwoot-calls.ts'
import type { ChatwootClient } from '../chatwoot-client.ts'
import { readShownContact } from '../chatwoot-json.ts'

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

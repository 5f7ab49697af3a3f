// Lists the conversations of a contact in our inbox.

import type { Contact } from '../../core/helpdesk/contact.ts'
import type { Conversation } from '../../core/helpdesk/conversation.ts'
import type { ChatwootClient } from '../chatwoot-client.ts'
import { readConversations } from '../chatwoot-json.ts'
import type { FoundConversation } from '../chatwoot-json.ts'

// The form of the source ids that Chatwoot makes up when an agent starts a conversation.
const sourceIdOfAgents = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
/** Chatwoot lists so many conversations on a page. */
const onPage = 25
/** Chatwoot lists so many conversations of a contact at most. */
const ofContact = 20
/** As many pages are read at most, so that a contact with endless conversations costs a limited time. */
const maxPages = 20
const dayMs = 86_400_000

/** One page of the conversations with this address, those with the latest activity first. */
export function listBySourceId(client: ChatwootClient, sourceId: string, page = 1): Promise<FoundConversation[]> {
  const { inboxId } = client.destination
  const query = `inbox_id=${inboxId}&status=all&source_id=${encodeURIComponent(sourceId)}`
  const path = `/conversations?${query}${page > 1 ? `&page=${page}` : ''}`
  return client.ask({ method: 'GET', path, about: 'inbox', read: readConversations })
}

type ContactConversations = { ours: FoundConversation[]; byAgents: FoundConversation[] }

/**
 * The conversations with the contact in our inbox: those with this address, and those that agents have started, which have
 * another source id. One list has both, unless it is full or does not tell the address of a conversation without messages.
 */
export async function listOfContact(
  client: ChatwootClient,
  { id, sourceId }: Pick<Contact, 'id' | 'sourceId'>,
): Promise<ContactConversations> {
  const listed = await listOfAllInboxes(client, id)
  const here = listed.filter(({ inboxId }) => inboxId === client.destination.inboxId)
  const isWhole = listed.length < ofContact && here.every((each) => each.sourceId !== null)
  const ours = isWhole ? here.filter((each) => each.sourceId === sourceId) : await listBySourceId(client, sourceId)
  return { ours, byAgents: here.filter(isByAgent) }
}

function listOfAllInboxes(client: ChatwootClient, contactId: number): Promise<FoundConversation[]> {
  const path = `/contacts/${contactId}/conversations`
  return client.ask({ method: 'GET', path, about: 'contact', read: readConversations })
}

function isByAgent({ sourceId }: FoundConversation): boolean {
  return sourceIdOfAgents.test(sourceId ?? '')
}

/** The ids of the conversations of the contact that were active since then. */
export async function conversationsSince(
  client: ChatwootClient,
  { id, sourceId }: Pick<Contact, 'id' | 'sourceId'>,
  since: number,
): Promise<number[]> {
  // The clocks of the helpdesk and of the network differ.
  const isActive = ({ lastActivityAt }: FoundConversation) => lastActivityAt === null || lastActivityAt >= since - dayMs
  const { inboxId } = client.destination
  const byAgents = (await listOfAllInboxes(client, id)).filter((each) => each.inboxId === inboxId && isByAgent(each))
  const found = byAgents.filter(isActive)
  for (let page = 1; page <= maxPages; page++) {
    const listed = await listBySourceId(client, sourceId, page)
    const active = listed.filter(isActive)
    found.push(...active)
    if (listed.length < onPage || active.length < listed.length) break
  }
  return [...new Set(found.map((each) => each.id))]
}

export function toConversation(found: FoundConversation): Conversation {
  const { id, status, inboxId, contactId, newestMessageId, callbackSign, isHistory } = found
  return { id, status, inboxId, contactId, newestMessageId, callbackSign, ...(isHistory && { isHistory }) }
}

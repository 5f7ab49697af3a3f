// Reads all conversations of a helpdesk inbox and sorts them by contact.

import type { ListedConversation } from '../core/helpdesk/conversation.ts'
import type { JobInbox } from './helpdesk-questions.ts'

export type ListedContact = ListedConversation['contact']
/** A contact with its conversations, the newest first. */
export type InboxContact = { contact: ListedContact; conversations: readonly ListedConversation[] }

/**
 * The contacts with the newest open conversation first: of two contacts of one person, that one is used. Conversations with new
 * activity move to the first page while the pages are read. So the first pages are read again, until one has nothing new.
 */
export async function readInbox(inbox: JobInbox): Promise<InboxContact[]> {
  const found = new Map<number, ListedConversation>()
  while (await readOnce(inbox, found)) continue
  const byContact = Map.groupBy(found.values(), ({ contact }) => contact.id)
  return [...byContact.values()]
    .map((conversations) => toContact(conversations.toSorted((one, other) => other.id - one.id)))
    .flatMap((each) => each ?? [])
    .sort(byUse)
}

/** True when conversations were found that were not known before. */
async function readOnce(inbox: JobInbox, found: Map<number, ListedConversation>): Promise<boolean> {
  const before = found.size
  for (let page = 1; ; page++) {
    const { conversations, isLast } = await inbox.ask((helpdesk) => helpdesk.conversationsPage(page))
    const fresh = conversations.filter(({ id }) => !found.has(id))
    for (const each of fresh) found.set(each.id, each)
    // Behind a page without anything new there is nothing new: the latest activity comes first.
    if (isLast || (before > 0 && fresh.length === 0)) return found.size > before
  }
}

function toContact(conversations: readonly ListedConversation[]): InboxContact | undefined {
  const [newest] = conversations
  return newest && { contact: newest.contact, conversations }
}

function byUse(one: InboxContact, other: InboxContact): number {
  return Number(isOpen(other)) - Number(isOpen(one)) || newestId(other) - newestId(one)
}

function isOpen({ conversations }: InboxContact): boolean {
  return conversations.some(({ status }) => status !== 'resolved')
}

function newestId({ conversations }: InboxContact): number {
  return conversations[0]?.id ?? 0
}

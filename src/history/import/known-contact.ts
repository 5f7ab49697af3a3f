// Finds the chat behind the addresses under which the phone keeps it.

import { parseChat } from '../../core/address.ts'
import type { InstanceName, Jid } from '../../core/ids.ts'
import type { ChatContact } from '../../bridge/conversations/conversation-directory.ts'
import type { EventContexts } from '../../bridge/conversations/event-context.ts'

/** Null for a person of whom there is no record. */
export async function knownContact(
  contexts: Pick<EventContexts, 'knownChat'>,
  instance: InstanceName,
  jids: readonly Jid[],
): Promise<ChatContact | null> {
  for (const jid of jids) {
    const chat = parseChat(jid)
    const contact = chat ? await contexts.knownChat(instance, chat) : null
    if (contact) return contact
  }
  return null
}

// Finds the conversation in which the typing of a chat is shown. Opens neither a contact nor a conversation.

import type { Chat } from '../../core/address.ts'
import type { Destination, HelpdeskInbox } from '../../core/downstream.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { ConversationDirectory } from '../conversations/conversation-directory.ts'
import type { EventContexts } from '../conversations/event-context.ts'

export type TypingPlace = { helpdesk: Pick<HelpdeskInbox, 'setTyping'>; conversationId: number; sourceId: string }

export type PlaceDeps = {
  contexts: Pick<EventContexts, 'knownChat'>
  conversations: Pick<ConversationDirectory, 'existing'>
  targetOf: (instance: InstanceName) => Promise<{ destination: Destination; helpdesk: HelpdeskInbox } | null>
}

export async function findTypingPlace(
  { contexts, conversations, targetOf }: PlaceDeps,
  instance: InstanceName,
  chat: Chat,
): Promise<TypingPlace | 'no_contact' | 'no_conv'> {
  const known = await contexts.knownChat(instance, chat)
  const target = known && (await targetOf(instance))
  if (!target) return 'no_contact'
  const found = await conversations.existing(known, { ...target, onStep: () => undefined })
  if (typeof found === 'string') return found
  return { helpdesk: target.helpdesk, conversationId: found.id, sourceId: found.sourceId }
}

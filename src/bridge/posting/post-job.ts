// What the poster needs to know of one message to post it.

import type { Destination, HelpdeskInbox } from '../../core/downstream.ts'
import type { NewMessage, UploadFile } from '../../core/helpdesk/message.ts'
import type { ChatId, InstanceName, NetworkMessageId } from '../../core/ids.ts'
import type { MessageKey, NetworkEvent } from '../../core/message.ts'
import type { Statement } from '../../storage/engine/statement.ts'
import type { MappedContent, MessageIdentity } from '../../storage/stores/messages/message-map-store.ts'
import type { OpenConversation } from '../conversations/conversation-memory.ts'
import type { HelpdeskTarget } from '../conversations/conversation-opener.ts'
import { messageKeyOf } from './message-key.ts'

export type PostJob = {
  identity: MessageIdentity
  direction: 'in' | 'echo'
  networkKey: MessageKey
  networkAt: number
  /** What later quotes, votes and edits need of the message. */
  remember: MappedContent | null
  /** The header with which the content begins; null when it begins with none. */
  header: string | null
  helpdesk: HelpdeskInbox
  destination: Destination
  conversation: OpenConversation
  /** The message on the network that this one answers. */
  replyTo: NetworkMessageId | null
  message: Omit<NewMessage, 'inReplyTo' | 'sourceId'>
  /** Replaces the content where the helpdesk shows which message this one answers. */
  contentAsReply?: string
  /** What the commit that completes the message stores besides. */
  endSteps: (posted: { conversationId: number; messageId: number }) => readonly Statement[]
  /** A message of the history: no news for agents, and nothing to confirm to its sender. */
  isPast?: true
  /** The message may have been posted before, under a higher id than this one: its row comes from a backup. */
  postedAfter?: number
}

/** An event, from the inbox or from the history. */
type Source = { instance: InstanceName; event: NetworkEvent; postedAfter?: number }

type Written = Pick<PostJob, 'remember' | 'header' | 'replyTo' | 'endSteps'> & {
  chatId: ChatId
  senderId: string
  /** What of the network's message this is; see the message map. */
  kind: string
  type: NewMessage['type']
  content: string
  contentAsReply?: string
  isPrivate: boolean
  originalText?: string
  files: readonly UploadFile[]
}

export function postJobOf(
  { instance, event, postedAfter }: Source,
  to: { target: Pick<HelpdeskTarget, 'destination' | 'helpdesk'>; conversation: OpenConversation },
  written: Written,
): PostJob {
  const { destination, helpdesk } = to.target
  const { chatId, senderId, kind, type, content, contentAsReply, isPrivate, originalText, files } = written
  const { remember, header, replyTo, endSteps } = written
  return {
    identity: { instance, destination: destination.key, chat: chatId, sender: senderId, networkId: event.id, kind },
    direction: event.fromMe ? 'echo' : 'in',
    networkKey: messageKeyOf(event),
    networkAt: event.at,
    remember,
    header,
    helpdesk,
    destination,
    conversation: to.conversation,
    replyTo,
    message: {
      ...{ type, content, isEcho: event.fromMe, private: isPrivate, files },
      ...(originalText !== undefined && { originalText }),
    },
    ...(contentAsReply !== undefined && { contentAsReply }),
    endSteps,
    ...(postedAfter !== undefined && { postedAfter }),
  }
}

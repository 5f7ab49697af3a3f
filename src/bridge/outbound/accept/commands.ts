// What a command of the helpdesk means: the key of its callback, and why it cannot be sent.

import type { Destination } from '../../../core/downstream.ts'
import type { CallbackConversation, OutgoingCommand, WrittenMessage } from '../../../core/helpdesk/callback.ts'
import { messageLimits } from '../../../core/outbox.ts'
import { writeReason } from '../../../core/reasons/reason.ts'
import { isLongerThan } from '../../../lib/text/is-longer-than.ts'
import type { CallbackKey } from '../../../storage/stores/messages/settled-callbacks.ts'
import type { Route } from '../../conversations/route.ts'

export type SendCommand = Extract<OutgoingCommand, { kind: 'send' }>
export type ChangeCommand = Extract<OutgoingCommand, { kind: 'changed' }>

/** The destination of rows that have none. */
export const noDestination = 'none'
export const deletedReason = writeReason('deletedBefore')
/** The chat of a row that cannot be sent. */
export const nowhere = { chatId: '', jid: '' }

/** Null for a message without an id. Without a destination, the ids of one instance say nothing about those of another. */
export function callbackKey({ sender, destination }: Route, messageId: number | null): CallbackKey | null {
  if (messageId === null || messageId === 0) return null
  const key = destination?.key ?? `${noDestination} ${sender.name}`
  return { destination: key, kind: 'message_created', eventId: messageId }
}

/** Why WhatsApp cannot get the message as it is; undefined when it can. */
export function unsendable({
  content,
  attachments,
  lacksFile,
}: Pick<WrittenMessage, 'content' | 'attachments' | 'lacksFile'>):
  { code: 'too_long' | 'too_many_files' | 'no_file'; reason: string } | undefined {
  const { characters, files } = messageLimits
  if (isLongerThan(characters, content)) {
    return { code: 'too_long', reason: writeReason('tooLong', { characters }) }
  }
  if (attachments.length > files) {
    return { code: 'too_many_files', reason: writeReason('tooManyFiles', { files }) }
  }
  return lacksFile ? { code: 'no_file', reason: writeReason('fileWithoutAddress') } : undefined
}

/** Why it is not known who is to be answered. */
export function noRecipient(destination: Destination | null): string {
  return writeReason(destination?.isUnidentified === true ? 'unidentifiedInbox' : 'noRecipient')
}

/** Why the instance cannot send the message; undefined when it can. */
export function otherInbox(destination: Destination | null, conversation: CallbackConversation): string | undefined {
  if (!destination) return undefined
  const { accountId, inboxId } = conversation
  const isElsewhere =
    (accountId !== null && accountId !== destination.accountId) || (inboxId !== null && inboxId !== destination.inboxId)
  return isElsewhere ? writeReason('otherInbox') : undefined
}

// What a command of the helpdesk means: the key of its callback, and why it cannot be sent.

import type { CallbackPlace, Destination, OutgoingCommand, WrittenMessage } from '../../../core/downstream.ts'
import { messageLimits } from '../../../core/outbox.ts'
import type { CallbackKey } from '../../../storage/stores/messages/settled-callbacks.ts'
import type { Route } from '../../conversations/route.ts'

export type SendCommand = Extract<OutgoingCommand, { kind: 'send' }>
export type ChangeCommand = Extract<OutgoingCommand, { kind: 'changed' }>

/** The destination of rows that have none. */
export const noDestination = 'none'
export const deletedReason = 'deleted at the helpdesk before it was sent'
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
    const reason = `the text is longer than the ${characters} characters that WhatsApp takes: send it in parts`
    return { code: 'too_long', reason }
  }
  if (attachments.length > files) {
    return { code: 'too_many_files', reason: `the message has more than ${files} files: send them in several messages` }
  }
  return lacksFile ? { code: 'no_file', reason: 'the helpdesk did not say where to fetch an attached file' } : undefined
}

/** Counts characters, not UTF-16 units, and never more of them than needed. */
function isLongerThan(limit: number, text: string): boolean {
  if (text.length <= limit) return false
  return text.length > 2 * limit || Array.from(text).length > limit
}

/** Why it is not known who is to be answered. */
export function noRecipient(destination: Destination | null): string {
  if (destination?.isUnidentified !== true) return 'the contact has no phone number and no WhatsApp id'
  return 'the helpdesk inbox could not be identified, so it is not certain who is to be answered: check the API token of the helpdesk, then try again'
}

/** Why the instance cannot send the message; undefined when it can. */
export function otherInbox(destination: Destination | null, place: CallbackPlace): string | undefined {
  if (!destination) return undefined
  const { accountId, inboxId } = place
  const isElsewhere =
    (accountId !== null && accountId !== destination.accountId) || (inboxId !== null && inboxId !== destination.inboxId)
  return isElsewhere ? 'the message belongs to another inbox than the one this instance serves' : undefined
}

// Turns a command of the helpdesk into an outbox row and the key of its callback.

import type { CallbackPlace, Destination, OutgoingCommand, WrittenMessage } from '../../../core/downstream.ts'
import type { InstanceName, RowId } from '../../../core/ids.ts'
import { fingerprintOf } from '../../../guard/spamguard.ts'
import type { CallbackKey } from '../../../storage/stores/messages/settled-callbacks.ts'
import type { NewOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { Sender } from '../../conversations/route.ts'
import type { ChatRef } from '../send/recipients.ts'

export type SendCommand = Extract<OutgoingCommand, { kind: 'send' }>
export type ChangeCommand = Extract<OutgoingCommand, { kind: 'changed' }>

const noDestination = 'none'
export const deletedReason = 'deleted at the helpdesk before it was sent'
/** The chat of a row that cannot be sent. */
export const nowhere = { chatId: '', jid: '' }
export const noRecipient = 'the contact has no phone number and no WhatsApp id'

type Path = {
  sender: Pick<Sender, 'name' | 'ownerTag' | 'inboxId'>
  destination: Destination | null
  ref: Pick<ChatRef, 'chatId' | 'jid'>
}

/** A row that need not wait. */
export function messageRow(
  id: RowId,
  now: number,
  { sender, destination, ref }: Path,
  written: WrittenMessage,
): NewOutboxRow {
  const { content, attachments, inReplyTo, agentName } = written
  return {
    id,
    kind: 'message',
    instance: sender.name,
    ownerTag: sender.ownerTag,
    inboxId: sender.inboxId,
    destination: destination?.key ?? noDestination,
    chatId: ref.chatId,
    remoteJid: ref.jid,
    conversationId: written.place.conversationId,
    messageId: written.messageId === 0 ? null : written.messageId,
    isWaiting: false,
    isDrained: false,
    expiresAt: null,
    fingerprint: fingerprintOf(content, attachments),
    createdAt: now,
    payload: { type: 'message', content, attachments, inReplyTo, agentName },
  }
}

/** Null for a message without an id. */
export function callbackKey(
  instance: InstanceName,
  destination: Destination | null,
  messageId: number | null,
): CallbackKey | null {
  if (messageId === null || messageId === 0) return null
  return { instance, destination: destination?.key ?? noDestination, kind: 'message_created', eventId: messageId }
}

/** Why the instance cannot send the message; undefined when it can. */
export function otherInbox(destination: Destination | null, place: CallbackPlace): string | undefined {
  if (!destination) return undefined
  const { accountId, inboxId } = place
  const isElsewhere =
    (accountId !== null && accountId !== destination.accountId) || (inboxId !== null && inboxId !== destination.inboxId)
  return isElsewhere ? 'the message belongs to another inbox than the one this instance serves' : undefined
}

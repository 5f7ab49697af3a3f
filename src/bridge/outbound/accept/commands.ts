// What a command to send becomes in the outbox, whoever gave it.

import type { CallbackPlace, Destination, OutgoingCommand, WrittenMessage } from '../../../core/downstream.ts'
import { fingerprintOf } from '../../../guard/spamguard.ts'
import type { CallbackKey } from '../../../storage/stores/messages/settled-callbacks.ts'
import type { NewOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { InstanceRow } from '../../../storage/stores/accounts/instance-rows.ts'
import type { ChatRef } from '../send/recipients.ts'

export type SendCommand = Extract<OutgoingCommand, { kind: 'send' }>
export type ChangeCommand = Extract<OutgoingCommand, { kind: 'changed' }>

const noDestination = 'none'
export const deletedReason = 'deleted at the helpdesk before it was sent'
export const noRecipient = 'the contact has no phone number and no WhatsApp id'

type Way = {
  sender: Readonly<Pick<InstanceRow, 'name' | 'ownerTag' | 'inboxId'>>
  destination: Destination | null
  ref: Pick<ChatRef, 'chat' | 'jid'>
}

/** A row that need not wait. */
export function messageRow(
  id: string,
  now: number,
  { sender, destination, ref }: Way,
  written: WrittenMessage,
): NewOutboxRow {
  const { content, attachments, inReplyTo, agentName } = written
  return {
    id,
    kind: 'message',
    instance: sender.name,
    owner_tag: sender.ownerTag,
    inbox_id: sender.inboxId,
    destination: destination?.key ?? noDestination,
    chat: ref.chat,
    remote_jid: ref.jid,
    conversation_id: written.place.conversationId,
    message_id: written.messageId === 0 ? null : written.messageId,
    waiting: 0,
    drained: 0,
    expires_at: null,
    fingerprint: fingerprintOf(content, attachments),
    created_at: now,
    payload: { type: 'message', content, attachments, inReplyTo, agentName },
  }
}

export function callbackKey(
  instance: string,
  destination: Destination | null,
  messageId: number | null,
): CallbackKey | null {
  if (messageId === null || messageId === 0) return null
  return { instance, destination: destination?.key ?? noDestination, kind: 'message_created', event_id: messageId }
}

/** Why it cannot be sent from here; undefined when it can. */
export function otherInbox(destination: Destination | null, place: CallbackPlace): string | undefined {
  if (!destination) return undefined
  const { accountId, inboxId } = place
  const isElsewhere =
    (accountId !== null && accountId !== destination.accountId) || (inboxId !== null && inboxId !== destination.inboxId)
  return isElsewhere ? 'the message belongs to another inbox than the one this instance serves' : undefined
}

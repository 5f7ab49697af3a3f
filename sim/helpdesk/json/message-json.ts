// Messages in Chatwoot's JSON: in REST answers, inside conversations, and in the public API.

import type { Static } from 'typebox'
import { unreadCount } from '../desk/conversations.ts'
import type { AttachmentBody, MessageBody, PushMessage, SenderPush, UserPush } from '../schemas/message-schemas.ts'
import type { PublicMessage } from '../schemas/public-schemas.ts'
import { messageTypes } from '../state/rows.ts'
import type { AttachmentRow, MessageRow, Sender, UserRow } from '../state/rows.ts'
import { contactPush } from './contact-json.ts'
import { blobUrl, previewUrl } from './file-addresses.ts'
import type { FileAddresses } from './file-addresses.ts'
import { iso, unix } from './times.ts'

export function messageJson(files: FileAddresses, message: MessageRow, echoId?: string): Static<typeof MessageBody> {
  return {
    id: message.id,
    content: message.content,
    inbox_id: message.conversation.inbox.id,
    ...(echoId === undefined ? {} : { echo_id: echoId }),
    conversation_id: message.conversation.displayId,
    message_type: messageTypes.indexOf(message.messageType),
    content_type: message.contentType,
    status: message.status,
    content_attributes: message.contentAttributes,
    created_at: unix(message.createdAt),
    private: message.private,
    source_id: message.sourceId,
    ...senderField(files, message),
    ...attachmentField(files, message),
  }
}

export function pushMessage(files: FileAddresses, message: MessageRow): Static<typeof PushMessage> {
  const { conversation, sender } = message
  return {
    id: message.id,
    content: message.content,
    account_id: conversation.account.id,
    inbox_id: conversation.inbox.id,
    conversation_id: conversation.displayId,
    message_type: messageTypes.indexOf(message.messageType),
    created_at: unix(message.createdAt),
    updated_at: iso(message.updatedAt),
    private: message.private,
    status: message.status,
    source_id: message.sourceId,
    content_type: message.contentType,
    content_attributes: message.contentAttributes,
    sender_type: sender?.type ?? null,
    sender_id: sender ? senderId(sender) : null,
    external_source_ids: {},
    additional_attributes: {},
    processed_message_content: message.content,
    sentiment: {},
    conversation: {
      assignee_id: conversation.assignee?.id ?? null,
      unread_count: unreadCount(conversation),
      last_activity_at: unix(conversation.lastActivityAt),
      contact_inbox: { source_id: conversation.contactInbox.sourceId },
    },
    ...attachmentField(files, message),
    ...senderField(files, message),
  }
}

export function publicMessageJson(
  files: FileAddresses,
  message: MessageRow,
  echoId?: string,
): Static<typeof PublicMessage> {
  return {
    id: message.id,
    content: message.content,
    message_type: messageTypes.indexOf(message.messageType),
    content_type: message.contentType,
    content_attributes: message.contentAttributes,
    created_at: unix(message.createdAt),
    conversation_id: message.conversation.displayId,
    ...(echoId === undefined ? {} : { echo_id: echoId }),
    ...attachmentField(files, message),
    ...senderField(files, message),
  }
}

export function attachmentField(files: FileAddresses, { attachments }: MessageRow) {
  return attachments.length === 0 ? {} : { attachments: attachments.map((one) => attachmentJson(files, one)) }
}

function attachmentJson(files: FileAddresses, attachment: AttachmentRow): Static<typeof AttachmentBody> {
  const { blob, fileType } = attachment
  return {
    id: attachment.id,
    message_id: attachment.messageId,
    file_type: fileType,
    account_id: attachment.accountId,
    extension: attachment.extension,
    content_type: blob.contentType,
    data_url: blobUrl(files, blob),
    thumb_url: fileType === 'image' ? previewUrl(files, blob) : '',
    file_size: blob.bytes.length,
    width: null,
    height: null,
    ...(fileType === 'audio' ? { transcribed_text: attachment.transcribedText } : {}),
  }
}

function senderField(files: FileAddresses, { sender }: MessageRow) {
  return sender ? { sender: senderPush(files, sender) } : {}
}

function senderPush(files: FileAddresses, sender: Sender): Static<typeof SenderPush> {
  if (sender.type === 'Contact') return contactPush(files, sender.contact)
  if (sender.type === 'User') return userPush(sender.user)
  return { id: sender.bot.id, name: sender.bot.name, avatar_url: '', type: 'agent_bot' }
}

export function userPush(user: UserRow): Static<typeof UserPush> {
  return {
    id: user.id,
    name: user.name,
    available_name: user.name,
    avatar_url: '',
    type: 'user',
    availability_status: 'online',
    thumbnail: '',
  }
}

function senderId(sender: Sender): number {
  if (sender.type === 'Contact') return sender.contact.id
  return sender.type === 'User' ? sender.user.id : sender.bot.id
}

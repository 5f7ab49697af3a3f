// Creates a message: the rules of the builder, the validations of the model, and the effects of the new row.

import { messageTypes } from '../state/rows.ts'
import type {
  Attributes,
  Author,
  BlobRow,
  ConversationRow,
  ConversationStatus,
  MessageRow,
  MessageType,
  Sender,
} from '../state/rows.ts'
import { insertMessage } from './activity.ts'
import { afterMessageCreated } from './after-message-created.ts'
import type { Desk } from './desk.ts'
import { renderLiquid } from './render-liquid.ts'
import { findItemProblem } from './message-items.ts'
import { isFlooded } from './message-flood.ts'
import { longestSourceId } from './contact-inboxes.ts'
import { unprocessable } from './rails-error.ts'
import { extensionOf, fileTypeOf, storeBlob, UploadedFile } from './uploaded-file.ts'

export type MessageParams = {
  content?: string | null
  messageType?: string
  private?: boolean
  contentType?: string
  contentAttributes?: Attributes
  sourceId?: string | null
  externalCreatedAt?: unknown
  files?: readonly (UploadedFile | BlobRow)[]
  /** The conversation's status that the request read before parallel requests changed it. */
  readStatus?: ConversationStatus
  /** The id and the time that the message got when its transaction began. */
  begun?: BegunMessage
}

export type BegunMessage = { id: number; createdAt: number }

const contentTypes = [
  ...['text', 'input_text', 'input_textarea', 'input_email', 'input_select', 'cards', 'form', 'article'],
  ...['incoming_email', 'input_csat', 'integrations', 'sticker', 'voice_call'],
]

/** The author is the sender of outgoing messages. The contact is the sender of all others. */
export function createMessage(
  desk: Desk,
  conversation: ConversationRow,
  author: Author | null,
  params: MessageParams,
): MessageRow {
  const messageType = parseType(params.messageType ?? 'outgoing')
  if (messageType === 'incoming' && conversation.inbox.channelType !== 'Channel::Api') {
    throw unprocessable('Incoming messages are only allowed in Api inboxes')
  }
  const contentType = params.contentType ?? 'text'
  const contentAttributes = keptAttributes(desk, params, conversation)
  validate(desk, conversation, params, { contentType, contentAttributes })
  const sender: Sender | null = messageType === 'outgoing' ? author : { type: 'Contact', contact: conversation.contact }
  const message = insertMessage(desk, conversation, {
    content: rendered(conversation, messageType, sender, params.content ?? null),
    messageType,
    private: params.private ?? false,
    contentType,
    contentAttributes,
    sourceId: desk.features.messageSourceIds ? (params.sourceId ?? null) : null,
    sender,
    ...params.begun,
  })
  for (const file of params.files ?? []) attach(desk, message, file)
  shuffleFiles(desk, message)
  afterMessageCreated(desk, message, author, params.readStatus)
  return message
}

function rendered(
  conversation: ConversationRow,
  type: MessageType,
  sender: Sender | null,
  content: string | null,
): string | null {
  const isRendered = content !== null && (type === 'outgoing' || type === 'template')
  return isRendered ? renderLiquid(content, { conversation, sender }) : content
}

function parseType(name: string): MessageType {
  const type = messageTypes.find((one) => one === name)
  if (!type) throw unprocessable(`'${name}' is not a valid message_type`)
  return type
}

function keptAttributes({ features }: Desk, params: MessageParams, conversation: ConversationRow): Attributes {
  // Attributes of the request replace external_created_at.
  const isTimed = params.externalCreatedAt !== undefined && params.contentAttributes === undefined
  const given: Attributes = isTimed
    ? { external_created_at: params.externalCreatedAt }
    : { ...params.contentAttributes }
  if (!features.externalEcho) delete given['external_echo']
  if ('automation_rule_id' in given) return { automation_rule_id: given['automation_rule_id'] }
  return withReply(given, conversation)
}

/** Resolves a reply inside its own conversation. An unknown original gives null and no error. */
function withReply(given: Attributes, { messages }: ConversationRow): Attributes {
  const { in_reply_to: id, in_reply_to_external_id: externalId } = given
  if (!id && !externalId) return given
  const original = id
    ? messages.find((one) => one.id === Number(id))
    : messages.find((one) => one.sourceId === externalId)
  return { ...given, in_reply_to: original?.id ?? null, in_reply_to_external_id: original?.sourceId ?? null }
}

function validate(
  desk: Desk,
  conversation: ConversationRow,
  { content, sourceId }: MessageParams,
  { contentType, contentAttributes }: Pick<MessageRow, 'contentType' | 'contentAttributes'>,
): void {
  if (!contentTypes.includes(contentType)) throw unprocessable(`'${contentType}' is not a valid content_type`)
  if (content?.includes('\u0000')) throw unprocessable('string contains null byte')
  const problems: string[] = []
  if (isFlooded(desk, conversation)) problems.push('Too many messages')
  if ((content ?? '').length > 150_000) problems.push('Content is too long (maximum is 150000 characters)')
  const longest = longestSourceId(desk)
  if ((sourceId ?? '').length > longest) problems.push(`Source is too long (maximum is ${longest} characters)`)
  const itemProblem = findItemProblem(contentType, contentAttributes)
  if (itemProblem) problems.push(itemProblem)
  if (problems.length > 0) throw unprocessable(`Validation failed: ${problems.join(', ')}`)
}

function attach(desk: Desk, message: MessageRow, file: UploadedFile | BlobRow): void {
  const blob = file instanceof UploadedFile ? storeBlob(desk, file) : file
  const attachment = desk.state.attachments.insert((id) => ({
    id,
    messageId: message.id,
    accountId: message.conversation.account.id,
    fileType: fileTypeOf(file.contentType),
    extension: extensionOf(blob.filename),
    blob,
    transcribedText: '',
    createdAt: message.createdAt,
  }))
  message.attachments.push(attachment)
}

/** Chatwoot reads the attachments without an order, so a list may show a later one first. */
function shuffleFiles({ choices, settings }: Desk, message: MessageRow): void {
  if (!choices.chance(settings.quirks.shuffledFiles, 'files', message.id)) return
  message.attachments.sort((a, b) => choices.fraction('file', a.id) - choices.fraction('file', b.id))
}

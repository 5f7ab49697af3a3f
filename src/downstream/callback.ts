// Turns a callback of Chatwoot into a command. Knows all seven events, and the forms in which they come.

import type {
  Attachment,
  CallbackConversation,
  LabelEdit,
  OutgoingCommand,
  Recipient,
  WrittenMessage,
} from '../core/helpdesk/callback.ts'
import { BridgeError } from '../core/errors.ts'
import { messageLimits } from '../core/outbox.ts'
import type { Locale } from '../core/reasons/sentences.ts'
import { fileNameOf } from './file-name.ts'
import { readImportMark } from './import-mark.ts'
import { interactiveTextOf } from './interactive-text.ts'
import { asList, asObject, asText } from './json-values.ts'
import { Payload } from './payload.ts'

/** More than Chatwoot ever sends. */
const mostChanges = 100
const mostTitles = 500

type Ignored = OutgoingCommand & { kind: 'ignored' }

/**
 * Throws SERVICE_BAD_REQUEST for a payload that Chatwoot does not send; the error names the field. A changed message that
 * cannot be read is ignored instead: a refusal would make Chatwoot mark the message failed, also one that was delivered.
 * `locale` is the language of sentences that are added for the customer.
 */
export function readCallback(body: unknown, locale: Locale = 'en'): OutgoingCommand {
  const payload = Payload.of(body)
  switch (eventOf(payload)) {
    case 'message_created':
      return readNote(payload) ?? notForUs(payload) ?? readSend(payload, locale)
    case 'message_updated':
      return readUpdate(payload, locale)
    case 'conversation_updated':
      return readSeen(payload)
    case 'conversation_status_changed':
      return readStatus(payload)
    case 'conversation_typing_on':
      return readTyping(payload, true)
    case 'conversation_typing_off':
      return readTyping(payload, false)
    default:
      return ignored('unused_event')
  }
}

function eventOf(payload: Payload): string {
  const event = payload.filledText('event')
  if (event === null && payload.has('message_type')) return 'message_created'
  return event ?? payload.requiredText('event')
}

/** Undefined unless the message is a private note in which an agent asks the service for something. */
function readNote(message: Payload): OutgoingCommand | undefined {
  if (message.raw('private') !== true || !asksForMembers(message.raw('content'))) return undefined
  try {
    const messageId = message.id('id')
    if (messageId === null || !isAgent(message.object('sender'))) return undefined
    const conversation = message.object('conversation')
    const at = { conversation: conversationOf(message, conversation), recipient: recipientOf(conversation) }
    return { kind: 'note', ...at, messageId, asksFor: 'members' }
  } catch (error) {
    // A refusal would make Chatwoot mark the note failed.
    if (error instanceof BridgeError) return undefined
    throw error
  }
}

function asksForMembers(content: unknown): boolean {
  return typeof content === 'string' && content.trim().toLowerCase() === 'members'
}

/** Ignores private notes, messages of contacts, and the messages that we posted: only ours have a source id. */
function notForUs(message: Payload): Ignored | undefined {
  if (!isPublic(message.raw('private'))) return ignored('private')
  const type = message.raw('message_type')
  // A string in webhooks, a number everywhere else.
  if (!['outgoing', 'template', 1, 3].some((each) => each === type)) return ignored('not_outgoing')
  return message.filledText('source_id') === null ? undefined : ignored('echo')
}

/** A mark that makes no sense counts as private: a note must never reach the customer. */
function isPublic(mark: unknown): boolean {
  return mark === null || mark === false
}

/** A message may be deleted before its callback comes. The text is a placeholder then. */
function readSend(message: Payload, locale: Locale): OutgoingCommand {
  if (message.object('content_attributes').flag('deleted')) return ignored('deleted')
  return { kind: 'send', ...readMessage(message, locale) }
}

function readUpdate(message: Payload, locale: Locale): OutgoingCommand {
  try {
    const notOurs = notForUs(message)
    return notOurs && !isDeletedPost(message, notOurs) ? notOurs : readChange(message, locale)
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error
    return { ...ignored('unreadable'), flaw: error.message }
  }
}

/** Of the messages that we posted only the deletion matters: a program may have sent the message over the API. */
function isDeletedPost(message: Payload, { reason }: Ignored): boolean {
  return reason === 'echo' && message.object('content_attributes').flag('deleted')
}

function readMessage(message: Payload, locale: Locale): WrittenMessage {
  const { content, choices, lacksLink } = interactiveTextOf(message, locale)
  const conversation = message.object('conversation')
  const sender = message.object('sender')
  // Chatwoot lists the files in any order. One more than can be sent shows that there are too many.
  const files = message.objects('attachments', messageLimits.files + 1).sort((one, other) => idOf(one) - idOf(other))
  const attachments = files.map(readAttachment).filter((each) => each !== null)
  return {
    conversation: conversationOf(message, conversation),
    recipient: recipientOf(conversation),
    messageId: message.id('id'),
    writtenAt: writtenAt(message),
    content,
    ...(choices.length > 0 && { choices }),
    ...(lacksLink && { lacksSurveyLink: true as const }),
    attachments,
    lacksFile: attachments.length < files.length,
    inReplyTo: readReply(message.object('content_attributes')),
    agentName: isAgent(sender) ? sender.filledText('name') : null,
    isByPerson: isByPerson(message, sender),
  }
}

/** Messages of rules and templates have no sender, except that Chatwoot names a person as the sender of a campaign. */
function isByPerson(message: Payload, sender: Payload): boolean {
  const type = message.raw('message_type')
  const isTemplate = type === 'template' || type === 3
  const isByRule = asObject(message.raw('content_attributes'))['automation_rule_id'] != null
  const isByCampaign = asObject(message.raw('additional_attributes'))['campaign_id'] != null
  return sender.raw('type') === 'user' && !isTemplate && !isByRule && !isByCampaign
}

/** An attachment without an id stays behind the others. */
function idOf(attachment: Payload): number {
  const id = attachment.raw('id')
  return Number.isSafeInteger(id) ? (id as number) : Number.MAX_SAFE_INTEGER
}

/** A time that makes no sense does not hold back the message. */
function writtenAt(message: Payload): number | null {
  const written = message.raw('created_at')
  const at = typeof written === 'number' ? written * 1000 : Date.parse(typeof written === 'string' ? written : '')
  return Number.isFinite(at) ? at : null
}

/** Null when the attachment has no address. */
function readAttachment(attachment: Payload): Attachment | null {
  const url = attachment.raw('data_url')
  if (typeof url !== 'string' || url === '') return null
  const parsed = URL.parse(url)
  return {
    url,
    mimeType: attachment.filledText('content_type'),
    fileName: parsed && fileNameOf(undefined, parsed),
    size: attachment.id('file_size'),
  }
}

/** A reference that makes no sense is ignored: the message goes out without it. */
function readReply(attributes: Payload): { messageId: number | null; sourceId: string | null } | null {
  const id = attributes.raw('in_reply_to')
  const number = typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : id
  const messageId = Number.isSafeInteger(number) && (number as number) > 0 ? (number as number) : null
  const external = attributes.raw('in_reply_to_external_id')
  const sourceId = typeof external === 'string' && external !== '' ? external : null
  return messageId === null && sourceId === null ? null : { messageId, sourceId }
}

function readChange(message: Payload, locale: Locale): OutgoingCommand {
  const attributes = message.object('content_attributes')
  const sourceId = message.filledText('source_id')
  return {
    kind: 'changed',
    ...readMessage(message, locale),
    messageId: message.requiredId('id'),
    ...(sourceId !== null && { sourceId }),
    deleted: attributes.flag('deleted'),
    externalError: attributes.filledText('external_error'),
    isTranslated: attributes.has('translations'),
  }
}

function readSeen(payload: Payload): OutgoingCommand {
  const conversation = payload.has('conversation') ? payload.object('conversation') : payload
  const at = conversation.time('agent_last_seen_at')
  if (at === 0) return readStatus(payload)
  const isResolved = conversation.raw('status') === 'resolved'
  return {
    kind: 'seen',
    conversation: conversationOf(payload, conversation),
    recipient: recipientOf(conversation),
    at,
    isResolved,
    ...labelsOf(payload),
  }
}

function readStatus(payload: Payload): OutgoingCommand {
  const conversation = payload.has('conversation') ? payload.object('conversation') : payload
  const status = conversation.raw('status')
  if (typeof status !== 'string') return ignored('unused_event')
  const isResolved = status === 'resolved'
  return {
    kind: 'status',
    conversation: conversationOf(payload, conversation),
    recipient: recipientOf(conversation),
    isResolved,
    ...labelsOf(payload),
  }
}

/** A change that makes no sense is no reason to refuse the callback. */
function labelsOf(payload: Payload): { labels?: LabelEdit } {
  const changes = asList(payload.raw('changed_attributes')).slice(0, mostChanges)
  const change = changes.map((each) => asObject(each)['label_list']).find((each) => each !== undefined)
  if (change === undefined) return {}
  const { previous_value: before, current_value: after } = asObject(change)
  return { labels: { before: titlesOf(before), after: titlesOf(after) } }
}

function titlesOf(value: unknown): string[] {
  return asList(value)
    .slice(0, mostTitles)
    .flatMap((title) => asText(title) ?? [])
}

function readTyping(payload: Payload, typing: boolean): OutgoingCommand {
  if (!isPublic(payload.raw('is_private'))) return ignored('private')
  if (!isAgent(payload.object('user'))) return ignored('unused_event')
  const conversation = payload.object('conversation')
  return {
    kind: 'typing',
    conversation: conversationOf(payload, conversation),
    recipient: recipientOf(conversation),
    typing,
  }
}

/** A contact has no type. */
function isAgent(person: Payload): boolean {
  return ['user', 'agent_bot'].some((type) => type === person.raw('type'))
}

/** A conversation does not name its account; its newest message does. */
function conversationOf(event: Payload, conversation: Payload): CallbackConversation {
  const [newest] = conversation.objects('messages')
  return {
    accountId: event.object('account').id('id') ?? newest?.id('account_id') ?? null,
    inboxId: event.object('inbox').id('id') ?? conversation.id('inbox_id'),
    conversationId: conversation.id('id'),
    ...importOf(conversation),
  }
}

/** A mark or a time that makes no sense is no reason to refuse the callback. */
function importOf(conversation: Payload): Pick<CallbackConversation, 'createdFor' | 'createdAt'> {
  const mark = readImportMark(conversation.raw('additional_attributes'))
  if (!mark) return {}
  const { createdFor } = mark
  const createdAt = conversation.raw('created_at')
  return { createdFor, ...(typeof createdAt === 'number' && { createdAt: createdAt * 1000 }) }
}

function recipientOf(conversation: Payload): Recipient {
  const contact = conversation.object('meta').object('sender')
  return {
    identifier: contact.filledText('identifier'),
    phone: contact.filledText('phone_number'),
    sourceId: conversation.object('contact_inbox').filledText('source_id'),
  }
}

function ignored(reason: Ignored['reason']): Ignored {
  return { kind: 'ignored', reason }
}

// Reads the answers of Chatwoot. Returns undefined for an answer that does not have the expected form.

import type { CallbackSign, Conversation, ConversationStatus } from '../core/helpdesk/conversation.ts'
import type { MessageStatus } from '../core/helpdesk/message.ts'
import type { ContactsPage, ListedContact, ShownContact } from '../core/helpdesk/contact.ts'
import type { OutgoingMessage, PostedMessage } from '../core/helpdesk/message.ts'
import { callbackFailureOf } from './callback-failure.ts'
import { readImportMark } from './import-mark.ts'
import { asList, asObject, asText, isId, readList } from './json-values.ts'
import type { Json } from './json-values.ts'

export type FoundContact = {
  id: number
  name: string
  identifier: string | null
  phone: string | null
  /** Its addresses in all inboxes; null when the answer does not tell them. */
  addresses: readonly Address[] | null
}

type Address = { inboxId: number; sourceId: string | null }

export type FoundConversation = Omit<Conversation, 'isHistory'> & {
  isBlocked: boolean
  /** The source id of its contact; null while the conversation has no message. */
  sourceId: string | null
  lastActivityAt: number | null
  /** The mark that we gave the conversation when an import created it. */
  importMark: string | null
  /** The conversation holds only messages of the history. */
  isHistory: boolean
}

const conversationStatuses: readonly unknown[] = [
  'open',
  'resolved',
  'pending',
  'snoozed',
] satisfies ConversationStatus[]
const messageStatuses: readonly unknown[] = ['sent', 'delivered', 'read', 'failed'] satisfies MessageStatus[]

export function readMessage(value: unknown): PostedMessage | undefined {
  const { id, source_id: sourceId, status, created_at: createdAt, content_attributes: attributes } = asObject(value)
  if (!isId(id) || typeof createdAt !== 'number' || !messageStatuses.includes(status)) return undefined
  const isDeleted = asObject(attributes)['deleted'] === true
  return { id, sourceId: asText(sourceId), status: status as MessageStatus, createdAt: createdAt * 1000, isDeleted }
}

export function readMessages(value: unknown): PostedMessage[] | undefined {
  return readList(asObject(value)['payload'], readMessage)
}

/** Of a page of messages: those for which Chatwoot calls us, the number of all, and the highest id. */
export function readOutgoing(
  value: unknown,
): { outgoing: OutgoingMessage[]; count: number; lastId: number } | undefined {
  const page = readMessages(value)
  if (!page) return undefined
  const ours = asList(asObject(value)['payload']).map(isAgents)
  const outgoing = page.filter((each, index) => ours[index] && each.status !== 'failed' && !each.isDeleted)
  const lastId = page.reduce((last, { id }) => Math.max(last, id), 0)
  return { outgoing: outgoing.map(({ id, createdAt }) => ({ id, createdAt })), count: page.length, lastId }
}

/** Only messages that we posted have a source id. */
function isAgents(message: unknown): boolean {
  const { message_type: type, private: isPrivate, source_id: sourceId } = asObject(message)
  return (type === 1 || type === 3) && isPrivate !== true && asText(sourceId) === null
}

export function readContact(value: unknown): FoundContact | undefined {
  const { id, name, identifier, phone_number: phone, contact_inboxes: inboxes } = asObject(value)
  if (!isId(id)) return undefined
  const addresses = Array.isArray(inboxes) ? inboxes.flatMap(readAddress) : null
  return { id, name: asText(name) ?? '', identifier: asText(identifier), phone: asText(phone), addresses }
}

function readAddress(value: unknown): Address[] {
  const { source_id: sourceId, inbox } = asObject(value)
  const { id } = asObject(inbox)
  return isId(id) ? [{ inboxId: id, sourceId: asText(sourceId) }] : []
}

/** The source ids of the contact in this inbox. */
export function sourceIdsIn(inboxId: number, { addresses }: FoundContact): string[] {
  return (addresses ?? []).flatMap((each) => (each.inboxId === inboxId ? (each.sourceId ?? []) : []))
}

/** Whether the contact is in other inboxes too. */
export function isElsewhere(inboxId: number, { addresses }: FoundContact): boolean {
  return (addresses ?? []).some((each) => each.inboxId !== inboxId)
}

/** The answer to a question for one contact. */
export function readShownContact(value: unknown): ShownContact | undefined {
  const { id, name, thumbnail } = asObject(asObject(value)['payload'])
  return isId(id) ? { id, name: asText(name) ?? '', thumbnail: asText(thumbnail) } : undefined
}

export function readContacts(value: unknown): FoundContact[] | undefined {
  return readList(asObject(value)['payload'], readContact)
}

/** Chatwoot lists so many contacts on a page. */
const contactsOnPage = 15

export function readContactsPage(value: unknown, inboxId: number): ContactsPage | undefined {
  const listed = readList(asObject(value)['payload'], (each) => readListed(each, inboxId))
  if (!listed) return undefined
  return { contacts: listed.filter(({ sourceIds }) => sourceIds.length > 0), isLast: listed.length < contactsOnPage }
}

/** `inboxId` is the inbox whose addresses are read. */
export function readListed(value: unknown, inboxId: number): ListedContact | undefined {
  const contact = readContact(value)
  if (!contact) return undefined
  const { id, name, identifier, phone } = contact
  const { email, blocked, custom_attributes: noted } = asObject(value)
  const texts = Object.entries(asObject(noted)).flatMap(([key, each]) => {
    const text = asText(each)
    return text === null ? [] : [[key, text] as const]
  })
  return {
    ...{ id, name, identifier, phone, email: asText(email), isBlocked: blocked === true },
    sourceIds: sourceIdsIn(inboxId, contact),
    elsewhere: isElsewhere(inboxId, contact),
    attributes: Object.fromEntries(texts),
  }
}

export function readCreatedContact(value: unknown): { contact: FoundContact; sourceId: string } | undefined {
  const { contact, contact_inbox: contactInbox } = asObject(asObject(value)['payload'])
  const found = readContact(contact)
  const sourceId = asText(asObject(contactInbox)['source_id'])
  return found && sourceId !== null ? { contact: found, sourceId } : undefined
}

export function readConversation(value: unknown): FoundConversation | undefined {
  const conversation = asObject(value)
  const { id, status, inbox_id: inboxId, messages, meta, last_non_activity_message: lastWords } = conversation
  if (!isId(id) || !isId(inboxId) || !conversationStatuses.includes(status)) return undefined
  const newest = asObject(asList(messages).at(-1))
  const contactInbox = asObject(asObject(newest['conversation'])['contact_inbox'])
  const sender = asObject(asObject(meta)['sender'])
  return {
    id,
    status: status as ConversationStatus,
    newestMessageId: isId(newest['id']) ? newest['id'] : null,
    inboxId,
    contactId: isId(sender['id']) ? sender['id'] : null,
    isBlocked: sender['blocked'] === true,
    sourceId: asText(contactInbox['source_id']),
    callbackSign: readSign(asObject(lastWords ?? newest)),
    ...readImport(conversation),
  }
}

function readImport({ last_activity_at: lastActivityAt, additional_attributes: attributes }: Json) {
  const mark = readImportMark(attributes)
  return {
    lastActivityAt: typeof lastActivityAt === 'number' ? lastActivityAt * 1000 : null,
    importMark: mark?.mark ?? null,
    isHistory: mark?.createdFor === 'history',
  }
}

/** There are no callbacks for activity messages, and they never fail. */
function readSign(message: Json): CallbackSign | null {
  const {
    id,
    created_at: createdAt,
    status,
    message_type: type,
    private: isPrivate,
    content_attributes: attributes,
  } = message
  if (typeof createdAt !== 'number') return null
  const isFailed = status === 'failed'
  const isToCustomer = (type === 1 || type === 3) && isPrivate !== true
  const error = asText(asObject(attributes)['external_error'])
  const failure = callbackFailureOf({ isFailed, isToCustomer, error })
  const failedId = isFailed && isToCustomer && isId(id) ? id : null
  return { at: createdAt * 1000, failure: failure ?? null, failedId }
}

/** Reads the list of the sidebar and the list of a contact, which is wrapped once less. */
export function readConversations(value: unknown): FoundConversation[] | undefined {
  const { data, payload } = asObject(value)
  return readList(payload ?? asObject(data)['payload'], readConversation)
}

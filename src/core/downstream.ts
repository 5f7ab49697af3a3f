// The helpdesk port: what the service needs of a helpdesk.

import { hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { AvatarFile, Contact, ContactSpec, ContactsPage, ListedContact, ShownContact } from './helpdesk/contact.ts'
import type {
  Conversation,
  ConversationsPage,
  ConversationStatus,
  ImportConversation,
  Opening,
  PendingSpec,
} from './helpdesk/conversation.ts'
import type { AccountAccess, HelpdeskAccount } from './helpdesk/helpdesk-account.ts'
import type {
  MessagesPage,
  MessageStatus,
  NewlyPosted,
  NewMessage,
  OutgoingMessage,
  PostedMessage,
} from './helpdesk/message.ts'
import { remembered } from '../lib/text/remembered.ts'
import type { DestinationKey } from './ids.ts'

/** Every message needs the place of its helpdesk, and parsing an address is slow. */
const helpdesksRemembered = 1000

/** How a helpdesk inbox is reached. */
export type InboxAccess = AccountAccess & { inboxId: number }

/** A helpdesk inbox that we know by its key. What we remember of a helpdesk is valid only under the same key. */
export type Destination = InboxAccess & {
  key: DestinationKey
  /** The helpdesk could not be asked: the key is the one that the place had last. Another Chatwoot may be there by now. */
  isUnidentified?: true
}

/** Where a helpdesk inbox is: origin, account and inbox as one text, as operators see it. */
export function inboxPlace(access: Omit<InboxAccess, 'apiToken'>): string {
  return `${accountPlace(access)}|${access.inboxId}`
}

/** Where an account is. */
export function accountPlace({ baseUrl, accountId }: Omit<AccountAccess, 'apiToken'>): string {
  return `${originOf(baseUrl)}|${accountId}`
}

/** The place together with the token: a helpdesk inbox may refuse one token and accept another. */
export function accessKey(access: InboxAccess): string {
  return `${inboxPlace(access)}|${markOf(access.apiToken)}`
}

/** The origin of an address. */
export const originOf = remembered(helpdesksRemembered, (baseUrl) => new URL(baseUrl).origin)

const markOf = remembered(helpdesksRemembered, (token) => hash('sha256', token).slice(0, 16))

export type DownstreamFailure =
  /** The destination takes nothing at all: wrong token, no such inbox, unreachable. */
  | 'destination'
  /** The same request may succeed later. */
  | 'transient'
  /** Too many messages in this conversation within a minute. */
  | 'flood'
  /** This request will never be accepted. */
  | 'permanent'
  /** Refused with 422 for an unknown reason. */
  | 'unexplained'
  /** The conversation, contact or message does not exist any more. */
  | 'gone'

export class DownstreamError extends Error {
  readonly failure: DownstreamFailure
  /** False only when the helpdesk certainly did not do what was asked. */
  readonly mayHaveHappened: boolean
  readonly status: number | null
  readonly retryAfterMs: number | null

  constructor(
    failure: DownstreamFailure,
    reason: string,
    details: { mayHaveHappened?: boolean; status?: number | null; retryAfterMs?: number | null; cause?: unknown } = {},
  ) {
    super(reason, { cause: details.cause })
    this.name = 'DownstreamError'
    this.failure = failure
    this.mayHaveHappened = details.mayHaveHappened ?? false
    this.status = details.status ?? null
    this.retryAfterMs = details.retryAfterMs ?? null
  }
}

/** One inbox of the helpdesk. Every call has a deadline and rejects with a DownstreamError. */
export type HelpdeskInbox = {
  /**
   * Finds the contact by exact match, or creates it. Takes a contact of another inbox into this one. `isKnown` says that we have
   * met the contact in this inbox, so that its addresses are asked for first.
   */
  ensureContact(spec: ContactSpec, met?: { isKnown: boolean }): Promise<Contact>
  /** Null when the contact does not exist any more. */
  findContact(id: number): Promise<ShownContact | null>
  /** The contact as `contactsPage` lists it, with no source ids when it is not in this inbox. Null when it does not exist. */
  describeContact(id: number): Promise<ListedContact | null>
  updateContact(id: number, changes: { name?: string; phone?: string; identifier?: string }): Promise<void>
  mergeContacts(ids: { keep: number; drop: number }): Promise<void>
  /** Replaces the picture of the contact. `thumbnail` of the answer is the address of the new picture. */
  setAvatar(id: number, file: AvatarFile): Promise<ShownContact>
  removeAvatar(id: number): Promise<void>
  /** The contacts of the account, the newest first. The first page is 1. */
  contactsPage(page: number): Promise<ContactsPage>
  /** All conversations of this inbox, those with the latest activity first. The first page is 1. */
  conversationsPage(page: number): Promise<ConversationsPage>
  /** The messages from that id on that have a source id. Not the private, deleted and automatic ones. */
  messagesFrom(conversationId: number, fromId: number): Promise<MessagesPage>
  /** Gives the contact a source id in this inbox. False when another contact has it. */
  addAddress(contactId: number, sourceId: string): Promise<boolean>
  /**
   * The newest conversation of the contact that is not resolved; else by `mode` the newest or a new one. Never one that holds
   * only history.
   */
  ensureConversation(
    contact: Pick<Contact, 'id' | 'sourceId'>,
    mode: 'new' | 'reopen',
    opening?: Opening,
  ): Promise<Conversation>
  /** A new pending conversation with the contact, or the one that has the mark. */
  createPending(spec: PendingSpec): Promise<ImportConversation>
  /** Only an administrator's token may open a conversation: one of an agent assigns it to that agent. */
  setConversationStatus(conversationId: number, status: ConversationStatus): Promise<void>
  /** The ids of the conversations with the contact that were active since then, as far as there are not too many. */
  conversationsSince(contact: Pick<Contact, 'id' | 'sourceId'>, since: number): Promise<number[]>
  /** The source ids of the messages of a conversation. None when the conversation does not exist any more. */
  sourceIds(conversationId: number): Promise<ReadonlySet<string>>
  /** Null when the conversation does not exist any more. */
  findConversation(id: number): Promise<Conversation | null>
  newestMessageId(conversationId: number): Promise<number>
  /** The address of the survey of a conversation, for the customer. Null when the conversation does not exist any more. */
  surveyLink(conversationId: number): Promise<string | null>
  post(conversationId: number, message: NewMessage): Promise<NewlyPosted>
  /** The message with this source id among those after `afterId`; null when it is not there yet. */
  findPosted(conversationId: number, sourceId: string, afterId: number): Promise<PostedMessage | null>
  findMessage(conversationId: number, messageId: number): Promise<PostedMessage | null>
  /**
   * The messages of a conversation for which the helpdesk calls us: outgoing, not private, not written by us, neither
   * deleted nor failed. With `afterId` those with a higher id, up to now. Without it, the last ones before `beforeId`.
   */
  outgoingMessages(
    conversationId: number,
    range: { afterId: number | null; beforeId: number },
  ): Promise<OutgoingMessage[]>
  /** `reason` is what agents read. */
  setStatus(conversationId: number, messageId: number, status: MessageStatus, reason?: string): Promise<void>
  deleteMessage(conversationId: number, messageId: number): Promise<void>
  /** The titles of the labels of a conversation; null when the conversation does not exist any more. */
  labels(conversationId: number): Promise<string[] | null>
  /** Replaces all labels of the conversation. */
  setLabels(conversationId: number, titles: readonly string[]): Promise<void>
  /** Agents have no unread messages in the conversation any more. */
  markSeen(conversationId: number): Promise<void>
  /** Agents have the last message of the customer unread. */
  markUnread(conversationId: number): Promise<void>
  /** Shows agents that the contact of the conversation types, or stops. `sourceId` is the address of the contact. */
  setTyping(at: { conversationId: number; sourceId: string }, typing: boolean): Promise<void>
  /**
   * Resolves when the inbox exists and accepts this token, with the identifier of the inbox: no other inbox of any helpdesk
   * has it. Null when the helpdesk shows none.
   */
  probe(): Promise<string | null>
  /** The time zone of the inbox, as its administrator wrote it; null when there is none. */
  timeZone(): Promise<string | null>
}

/** A file of the helpdesk. The stream fails when the file is larger than the limit. */
export type DownloadedFile = { stream: Readable; mimeType: string | null; fileName: string | null; size: number | null }

/** Facts of the helpdesk that the bridge must know. */
export type DownstreamLimits = {
  /** Whether the helpdesk takes a text of this length. */
  fits(text: string, type: NewMessage['type']): boolean
  /** A text with this many characters fits: any text, any kind of message. */
  safeLength: number
  /** How long after a lost answer the helpdesk may still carry out the request. */
  lateCommitMs: number
}

export type Downstream = {
  readonly limits: DownstreamLimits
  helpdesk(access: InboxAccess): HelpdeskInbox
  /** For operators: such calls are rare, and are made also while the inboxes of the account rest. */
  account(access: AccountAccess): HelpdeskAccount
  /** Fetches an attachment of this helpdesk, or a file of no helpdesk (null). Rejects with a DownstreamError. */
  download(access: Pick<InboxAccess, 'baseUrl'> | null, url: string, signal: AbortSignal): Promise<DownloadedFile>
  [Symbol.asyncDispose](): Promise<void>
}

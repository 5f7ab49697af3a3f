// The helpdesk port: what the service needs of a helpdesk.

import { hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { AccountAccess, HelpdeskAccount } from './helpdesk/helpdesk-account.ts'
import type { DestinationKey } from './ids.ts'

/** How a helpdesk inbox is reached. */
export type InboxAccess = AccountAccess & { inboxId: number }

/** A helpdesk inbox that we know by its key. What we remember of a helpdesk is valid only under the same key. */
export type Destination = InboxAccess & {
  key: DestinationKey
  /** The helpdesk could not be asked: the key is the one that the place had last. Another Chatwoot may be there by now. */
  isUnidentified?: true
}

/** Where a helpdesk inbox is: origin, account and inbox as one text, as operators see it. */
export function inboxPlace({ inboxId, ...account }: Omit<InboxAccess, 'apiToken'>): string {
  return `${accountPlace(account)}|${inboxId}`
}

/** Where an account is. */
export function accountPlace({ baseUrl, accountId }: Omit<AccountAccess, 'apiToken'>): string {
  return `${new URL(baseUrl).origin}|${accountId}`
}

/** The place together with the token: a helpdesk inbox may refuse one token and accept another. */
export function accessKey(access: InboxAccess): string {
  return `${inboxPlace(access)}|${hash('sha256', access.apiToken).slice(0, 16)}`
}

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

export type ContactSpec = {
  /** Our own, stable name of the contact in the helpdesk inbox. */
  sourceId: string
  /** Earlier source ids of the same contact. */
  formerSourceIds: readonly string[]
  identifier: string
  /** Every spelling of the identifier, the identifier itself included. */
  identifiers: readonly string[]
  /** E.164 with the plus. */
  phone: string | null
  phones: readonly string[]
  name: string
}

export type Contact = {
  id: number
  name: string
  identifier: string | null
  phone: string | null
  /** The source id of the contact in this inbox. */
  sourceId: string
  /** Whether the contact is in other inboxes too. */
  elsewhere: boolean
  created: boolean
}

/** A contact as the helpdesk shows it now. `thumbnail` is the address of its picture; every upload has another one. */
export type ShownContact = { id: number; name: string; thumbnail: string | null }

/** A contact of this inbox, as the helpdesk lists it. */
export type ListedContact = {
  id: number
  name: string
  identifier: string | null
  /** As the helpdesk has it: E.164 with the plus. */
  phone: string | null
  email: string | null
  isBlocked: boolean
  /** The addresses of the contact in this inbox. */
  sourceIds: readonly string[]
  /** Whether the contact is in other inboxes too. */
  elsewhere: boolean
  /** What operators and other programs noted of the contact, by name: only texts. */
  attributes: Readonly<Record<string, string>>
}

/** One page of all contacts of the account; `contacts` are those of this inbox. */
export type ContactsPage = { contacts: readonly ListedContact[]; isLast: boolean }

/** A conversation of this inbox, with its contact, as the helpdesk lists it. */
export type ListedConversation = {
  id: number
  status: ConversationStatus
  isHistory: boolean
  isBlocked: boolean
  /** Null while the conversation has no message. */
  newestMessage: { id: number; at: number; sourceId: string | null } | null
  lastActivityAt: number
  contact: {
    id: number
    name: string
    identifier: string | null
    phone: string | null
    attributes: Readonly<Record<string, unknown>>
    /** The address of the contact under which the conversation began; null while it has no message. */
    sourceId: string | null
  }
}

export type ConversationsPage = { conversations: readonly ListedConversation[]; isLast: boolean }

/** A message of a customer or to a customer. `createdAt` is in milliseconds. */
export type ListedMessage = { id: number; sourceId: string; createdAt: number; isIncoming: boolean; content: string }

/** `isWhole` is false when there are more messages than the helpdesk lists at once. Any of them may be missing then. */
export type MessagesPage = { messages: readonly ListedMessage[]; isWhole: boolean }

export type AvatarFile = { bytes: Buffer; mimeType: string; fileName: string }

export type ConversationStatus = 'open' | 'resolved' | 'pending' | 'snoozed'
export type Conversation = {
  id: number
  status: ConversationStatus
  inboxId: number
  /** Null when the helpdesk does not say. */
  contactId: number | null
  newestMessageId: number | null
  /** Null while the conversation has no message. */
  callbackSign: CallbackSign | null
  /** The service created it for the history of its chat. New messages never go into it. */
  isHistory?: true
}

/** A conversation for messages of the history. `mark` names it, so that a repetition of the request finds it. */
export type PendingSpec = {
  contact: Pick<Contact, 'id' | 'sourceId'>
  mark: string
  /** Live messages never go into the conversation. */
  isHistory: boolean
  /** Awaited before the conversation is created. Rejects when none may be created now. */
  beforeCreation: () => Promise<void>
}

/** `isOwn` is false when the helpdesk inbox is locked to one conversation and gave back the last one of the contact. */
export type ImportConversation = Conversation & { isOwn: boolean }

/** Why the helpdesk could not deliver a callback, in its own words without secrets, and what an operator can do. */
export type CallbackFailure = { reason: string; advice: string }

/**
 * What the newest message of a conversation shows of the callbacks. `at` is its time by the clock of the helpdesk. `failedId` is
 * its id, if it is a message to the customer that the helpdesk shows as failed for any reason.
 */
export type CallbackSign = { at: number; failure: CallbackFailure | null; failedId: number | null }

export type UploadFile = {
  /** Opens the file again for every attempt. */
  open: () => Promise<Readable>
  fileName: string
  mimeType: string
  size: number | null
}

export type NewMessage = {
  type: 'incoming' | 'outgoing' | 'activity'
  content: string
  sourceId: string | null
  /** Message id at the helpdesk, in the same conversation. */
  inReplyTo: number | null
  /** Written on the owner's phone. */
  isEcho: boolean
  /** The customer's own text, when the content says it in other words. */
  originalText?: string
  private: boolean
  files: readonly UploadFile[]
  /** When the message was written, for a message of the history; epoch milliseconds. */
  sentAt?: number
}

export type MessageStatus = 'sent' | 'delivered' | 'read' | 'failed'
/** `createdAt` is in milliseconds; the helpdesk tells only whole seconds. */
export type PostedMessage = {
  id: number
  sourceId: string | null
  status: MessageStatus
  createdAt: number
  isDeleted: boolean
}
/** `flaw` says why the helpdesk must not get another message, although it took this one. */
export type NewlyPosted = PostedMessage & { flaw?: string }

/** A message of an agent, a bot or the helpdesk itself. `createdAt` is in milliseconds. */
export type OutgoingMessage = { id: number; createdAt: number }

/** What a search for a conversation leaves out, and how a new one is created. */
export type Opening = {
  /** Conversations of other accounts: two accounts can share an inbox and a customer. */
  except?: readonly number[]
  /** The status of a new conversation. With `open` the helpdesk decides: it takes `pending` for an inbox with a bot. */
  status?: 'open' | 'pending'
  /** Awaited before a conversation is created. Rejects when none may be created now. */
  beforeCreation?: () => Promise<void>
}

/** One inbox of the helpdesk. Every call has a deadline and rejects with a DownstreamError. */
export type HelpdeskInbox = {
  /** Finds the contact by exact match, or creates it. Takes a contact of another inbox into this one. */
  ensureContact(spec: ContactSpec): Promise<Contact>
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

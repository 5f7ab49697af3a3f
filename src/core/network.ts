// The network port: what the service needs of a consumer messaging network, in the service's own words.

import type { Readable } from 'node:stream'
import type { Chat, Person } from './address.ts'
import type { Anchor } from './history/past-events.ts'
import type { GroupAdministration, GroupMember } from './group-administration.ts'
import type { FileRef, MediaContent, MessageEvent, MessageKey, NetworkEvent, SealedEvent } from './message.ts'
import type { InstanceName, Jid, NetworkMessageId, RowId } from './ids.ts'
import type { NetworkLabels } from './sync/labels.ts'
import type { NoPicture, ProfilePicture } from './realtime.ts'

/** Why a connection ended. `instances` decides by the cause; codes and texts are only for people. */
export type CloseCause =
  /** The device was removed or logged out. The session cannot be used again. */
  | 'invalidated'
  /** The account is locked or banned for good. The session cannot be used again, and the ban counts as a strike. */
  | 'banned'
  /** Banned until `until`. The ban counts as a strike; the session may still be valid afterwards. */
  | 'temporary_ban'
  /** The network refuses this client: outdated, bad user agent or multi-device mismatch. */
  | 'client_refused'
  /** Another client opened the same session. */
  | 'replaced'
  /** The network asks to connect again at once, as it does after a pairing. */
  | 'restart'
  /** All QR codes of a pairing were shown and none was scanned. */
  | 'pairing_over'
  /** Any other end. A later connection may succeed. */
  | 'transient'

/** Why the network could not be reached. */
export type UnreachableCause =
  /** A host name was not found. */
  | 'dns'
  /** The server, or a firewall before it, refuses connections. */
  | 'refused'
  /** This machine knows no way to the server. */
  | 'no_route'
  /** No answer came in time. */
  | 'timeout'
  /** The proxy cannot be used. */
  | 'proxy'
  /** The TLS connection failed, for example because of a certificate. */
  | 'tls'
  /** The server has no valid certificate of the network. */
  | 'not_genuine'
  /** The server that answered is not one of the network. */
  | 'other_server'
  /** The network itself says that it does not work. */
  | 'away'
  /** The connection ended without a reason. */
  | 'broken'

/** `cure` says what an operator can do. */
export type Unreachable = { cause: UnreachableCause; cure: string }

/** Why a question to the network got no answer, and what an operator can do. */
export type Unanswered = { reason: string; cure: string }

export type Closing = {
  cause: CloseCause
  /** The network's own code, or null when the connection just broke. */
  code: number | null
  /** A sentence for the operator; says what to do where something can be done. */
  reason: string
  /** Epoch milliseconds at which a temporary ban ends. */
  until?: number
  /** Only with the cause `transient`, and only if the end means that the network was not reached unless we had logged in. */
  unreachable?: Unreachable
  /** Where the cause alone does not say enough to a program. */
  errorCode?: 'passkey_required' | 'version_refused' | 'server_not_genuine'
  /** The next attempt differs from the one that was refused, so it may be made at once. */
  mayRetryNow?: boolean
}

/** The version that the service introduces itself with to the network. Versions are numbers with dots between them. */
export type ClientVersionState = {
  current: string
  /** The last version that logged an account in. */
  worked: string | null
  /** The operator sets the version. */
  isPinned: boolean
  /** The network refused the current version when it was last used. */
  isRefused: boolean
  /** When the network last said which version is the newest; epoch milliseconds. */
  askedAt: number | null
}

export type SessionSignal =
  /** A QR code to scan; replaces the one before. */
  | { kind: 'qr'; text: string }
  /** The account was linked and its credentials are stored. The network closes the connection with `restart` next. */
  | { kind: 'paired'; jid: Jid }
  /** Logged in. */
  | { kind: 'authenticated'; jid: Jid }
  /**
   * The server has delivered everything that waited for us while we were away: it has announced the end, or nothing of it
   * came for 20 s while storage answered.
   */
  | { kind: 'drained' }
  /** The last signal of a session. Everything that the session wrote is stored. */
  | { kind: 'closed'; closing: Closing }

/** A code that the owner types on the phone; `expiresAt` in epoch milliseconds. */
export type PairingCode = { code: string; expiresAt: number }

/** What we know of a message that the server did not acknowledge. */
export type SendOutcome =
  /** Nothing left this process. The caller may try again. */
  | 'not_sent'
  /** The frame may have arrived. Only a repeat under the same message id is safe. */
  | 'unknown'
  /** The network refused the message and would refuse it again. */
  | 'refused'

export class SendError extends Error {
  readonly outcome: SendOutcome
  /** The network's own code of a refusal, e.g. 463: restricted. */
  readonly code: number | null

  constructor(outcome: SendOutcome, reason: string, options: { code?: number | null; cause?: unknown } = {}) {
    super(reason, { cause: options.cause })
    this.name = 'SendError'
    this.outcome = outcome
    this.code = options.code ?? null
  }
}

/** The message that a reply quotes; `text` is what the recipient sees of it. */
export type QuotedMessage = { key: MessageKey; text: string }

export type OutgoingFile = {
  kind: 'image' | 'video' | 'audio' | 'voice' | 'document' | 'sticker'
  /** Read from the start at every attempt. */
  path: string
  mimeType: string
  fileName: string
}

export type OutgoingContent =
  | { type: 'text'; text: string; mentions: readonly Person[]; quote: QuotedMessage | null }
  | {
      type: 'file'
      file: OutgoingFile
      /** Null for recordings and stickers. */
      caption: string | null
      mentions: readonly Person[]
      quote: QuotedMessage | null
    }
  | {
      type: 'location'
      latitude: number
      longitude: number
      name: string | null
      address: string | null
      quote: QuotedMessage | null
    }
  /** A contact card. The phone is E.164 without the plus. */
  | { type: 'contact'; name: string; phone: string; quote: QuotedMessage | null }
  /** An empty emoji removes the reaction. */
  | { type: 'reaction'; target: MessageKey; emoji: string }
  | { type: 'edit'; target: MessageKey; text: string }
  | { type: 'revoke'; target: MessageKey }
  /** A personal invitation to a group. The network gave the code for the recipient; `expiresAt` is in epoch milliseconds. */
  | { type: 'group_invite'; groupId: string; subject: string; code: string; expiresAt: number; text: string }

/** `isFirst`: the service knows no earlier message of the chat. */
export type SendOptions = { after?: Promise<unknown> | undefined; isFirst?: boolean }

export type GroupInfo = { id: string; subject: string; members: readonly GroupMember[] }

/** `until` is the end of an active restriction in epoch milliseconds; null when the network names no end. */
export type NetworkRestriction = { isActive: boolean; until: number | null }

/**
 * `at` is when the server took the message, in epoch milliseconds by its own clock; null when the server does not say.
 * `secret` is there for a message to a group. It opens the sealed reactions to the message; base64.
 * `file` is there for a file: as the recipients got it, and where the network has it.
 */
export type Sent = { at: number | null; secret?: string; file?: MediaContent }

/** One connection. Signals come in order, never before open() has resolved, and never after close() has resolved. */
export type NetworkSession = {
  /** Resolves when the server has answered a ping; rejects after `ms` without an answer. */
  probe(ms: number): Promise<void>
  /** Requests a code that the owner types on the phone instead of scanning. Only while pairing. */
  requestPairingCode(phone: string): Promise<PairingCode>
  /**
   * Sends the content under this message id. Resolves when the server has acknowledged it; rejects with a SendError.
   * The preparation starts at once. Nothing leaves before `after` has resolved; if `after` rejects, nothing leaves at all.
   */
  send(address: Jid, content: OutgoingContent, messageId: NetworkMessageId, options?: SendOptions): Promise<Sent>
  /** A new, unique message id. The caller stores it before the first attempt. */
  newMessageId(): NetworkMessageId
  /** The account behind a phone number, in the spelling the network uses; null when there is none. */
  findPerson(phone: string): Promise<Person | null>
  groupInfo(groupId: string): Promise<GroupInfo>
  /** The picture of a person or a group. Rejects with a NetworkBusyError when the network is asked too often. */
  profilePicture(owner: Chat): Promise<ProfilePicture | NoPicture>
  readonly groups: GroupAdministration
  readonly labels: NetworkLabels
  /**
   * Ends a call that rings: the caller sees that it was rejected. False when the call does not ring any more; nothing leaves
   * then. Rejects when the network refuses or does not answer; the call may have been rejected all the same.
   */
  rejectCall(callId: NetworkMessageId, caller: Jid): Promise<boolean>
  markRead(keys: readonly MessageKey[]): Promise<void>
  /** Shows or ends "typing" in a chat; best effort. */
  setTyping(address: Jid, typing: boolean): Promise<void>
  /**
   * Shows the account as online or offline. WhatsApp sends typing notices only to online devices. While a linked device is
   * online, the owner's phone gets no notifications.
   */
  setAvailable(available: boolean): Promise<void>
  /**
   * Asks the network to tell when the person, or a member of the group, types. The network does so only while the account is
   * online, and at the longest until the connection ends. This does not make the account online.
   */
  subscribeToPresence(address: Jid): Promise<void>
  /** Asks the phone to upload a file again that the server no longer has. */
  requestFileAgain(message: MessageKey, file: FileRef): Promise<FileRef>
  /**
   * Asks the phone for messages of a chat that are older than the anchor. Resolves with how many came, when the reception has
   * stored them. Rejects when the signal aborts first: the phone answers only while it is online.
   */
  requestHistory(before: Anchor, count: number, signal: AbortSignal): Promise<{ seen: number }>
  /** Asks the network whether the account may write only to people who wrote to it. */
  restriction(): Promise<NetworkRestriction>
  /** Unlinks this device; resolves when the server has acknowledged it. A `closed` signal may follow. */
  logout(): Promise<void>
  /** Closes without logging out. No `closed` signal follows. Closing an ended session has no effect. */
  close(): Promise<void>
}

export type SessionName = {
  sessionId: string
  instance: InstanceName
  /**
   * The session is opened only to be logged out. It receives nothing and confirms nothing, and it gives `authenticated` as
   * soon as the server answers queries. It must have stored credentials.
   */
  isLeaving?: boolean
  /**
   * The proxy for everything of this session, with user and password; null or absent: the proxy of the service, if there is
   * one. If the proxy fails, the session does not connect.
   */
  networkProxy?: string | null
  /** If this opens a pairing: for how many days the phone is asked for its history; null or absent: it is not asked. */
  historyDays?: number | null
}

/** What we stored of the message that a sealed event refers to. */
export type Unsealing = { secret: string; sender: Person; ownJid: Jid; pollOptions: readonly string[] }
export type UnsealedContent =
  | { type: 'poll_vote'; options: readonly string[] }
  | { type: 'reaction'; emoji: string }
  | { type: 'edit'; content: MessageEvent['content']; mentions: readonly Person[] }

/** The file cannot be fetched. `gone`: the server no longer has it, but the phone may; otherwise its content is damaged. */
export class FileError extends Error {
  readonly gone: boolean

  constructor(gone: boolean, reason: string, options?: { cause: unknown }) {
    super(reason, options)
    this.name = 'FileError'
    this.gone = gone
  }
}

/** A stored row of the inbox. */
export type ReceivedRow = { id: RowId; event: NetworkEvent; receivedAt: number }

/**
 * New names of a person. A saved name of null was removed from the address book. `isFullSync` marks names that come with all
 * others: from the first read of the address book, or from the history.
 */
export type PersonNames = { person: Person; pushName?: string; savedName?: string | null; isFullSync?: boolean }

/** Two addresses of one person, as the server states them. */
export type PersonPair = { phone: string; lid: string }

/** Listens to what the network receives. An implementation must not throw and must return quickly. */
export type Reception = {
  /** The rows are stored already and come in order. After a restart the listener finds them in the inbox. */
  onReceived(instance: InstanceName, rows: readonly ReceivedRow[]): void
  /** Resolves when the names are stored. After a rejection the names of the address book come again with another connection. */
  onNames(instance: InstanceName, names: readonly PersonNames[]): Promise<void> | undefined
  /** Best effort: the network sends pairs again. */
  onPairs(instance: InstanceName, pairs: readonly PersonPair[]): void
  /** The network received something that belongs to no chat, such as a status, a channel or a protocol message. */
  onPassedOver(instance: InstanceName, kind: string): void
  /** The network delivered something again. It is confirmed again and otherwise ignored. */
  onRepeated(instance: InstanceName): void
}

/** The slice of the network that `instances` uses. */
export type AccountNetwork = Pick<Network, 'open' | 'storedJid' | 'release' | 'forget' | typeof Symbol.asyncDispose>

export type Network = {
  /**
   * Connects with the stored credentials of this session, or starts a pairing when there are none.
   * Every received event is stored in the inbox of `instance` before the network gets its receipt.
   */
  open(session: SessionName, onSignal: (signal: SessionSignal) => void): Promise<NetworkSession>
  /**
   * The decrypted bytes of a file, fetched through the proxy of the instance. The stream checks them and fails if they differ
   * from what was sent.
   */
  download(instance: InstanceName, file: FileRef, signal: AbortSignal): Promise<Readable>
  /** Opens a sealed event with the message it refers to; null when that fails. */
  unseal(event: SealedEvent, target: Unsealing): UnsealedContent | null
  /** The jid (without device part) of the linked account whose credentials are stored, or null. */
  storedJid(sessionId: string): Promise<Jid | null>
  /** Closes the session and frees its memory. What is stored stays. */
  release(sessionId: string): Promise<void>
  /** Removes everything stored for the session. */
  forget(sessionId: string): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

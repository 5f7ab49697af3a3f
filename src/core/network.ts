// The network port: what the service needs of a consumer messaging network, in the service's own words.

import type { Readable } from 'node:stream'
import type { Chat, Person } from './address.ts'
import type { Anchor } from './history/past-events.ts'
import type { GroupAdministration, GroupMember } from './group-administration.ts'
import type { FileRef, MediaContent, MessageEvent, MessageKey, SealedEvent } from './message.ts'
import type { InstanceName, Jid, NetworkMessageId } from './ids.ts'
import type { Closing } from './network/closing.ts'
import type { OutgoingContent } from './network/outgoing-content.ts'
import type { NetworkLabels } from './sync/labels.ts'
import type { NoPicture, ProfilePicture } from './realtime.ts'

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

/** A session whose keys are stored, or will be. */
export type StoredSession = {
  sessionId: string
  instance: InstanceName
  /**
   * The session is only to be logged out or forgotten, and no record names it any more. When it is opened, it receives nothing
   * and confirms nothing, and it gives `authenticated` as soon as the server answers queries. It must have stored credentials.
   */
  isLeaving?: boolean
}

export type SessionName = StoredSession & {
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

/** The slice of the network that `instances` uses. */
export type AccountNetwork = Pick<Network, 'open' | 'storedJid' | 'release' | 'forget' | typeof Symbol.asyncDispose>

export type Network = {
  /**
   * Connects with the stored credentials of this session, or starts a pairing when there are none.
   * Every received event is stored in the inbox of `instance` before the network gets its receipt.
   * Rejects with a `NotHeldError` when another process holds the instance.
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
  storedJid(session: StoredSession): Promise<Jid | null>
  /** Closes the session and frees its memory. What is stored stays. */
  release(sessionId: string): Promise<void>
  /** Removes everything stored for the session. */
  forget(session: StoredSession): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

// The network port: what the service needs of a consumer messaging network, in the service's own words.

import type { Readable } from 'node:stream'
import type { Person } from './address.ts'
import type { FileRef, MessageEvent, MessageKey, NetworkEvent, SealedEvent } from './message.ts'
import type { InstanceName, Jid, NetworkMessageId, RowId } from './ids.ts'

/** Why a connection ended. The supervisor decides by it; codes and texts are only for people. */
export type CloseCause =
  /** The device was removed or logged out: the session is worthless. */
  | 'invalidated'
  /** The account is locked or banned for good: worthless too, and a strike. */
  | 'banned'
  /** Banned until `until`: a strike; the session may live on. */
  | 'temporary_ban'
  /** This client is not accepted as it is (outdated, bad user agent, multi-device mismatch). */
  | 'client_refused'
  /** Another client opened the same session. */
  | 'replaced'
  /** The network asks to connect again at once, as it does after a pairing. */
  | 'restart'
  /** All QR codes of a pairing were shown and none was scanned. */
  | 'pairing_over'
  /** Anything else: try again later. */
  | 'transient'

export type Closing = {
  cause: CloseCause
  /** The network's own code, or null when the connection just broke. */
  code: number | null
  /** A sentence for the operator; says what to do where something can be done. */
  reason: string
  /** Epoch milliseconds at which a temporary ban ends. */
  until?: number
}

export type SessionSignal =
  /** A QR code to scan; replaces the one before. */
  | { kind: 'qr'; text: string }
  /** The account was linked: its credentials are stored. The network closes with `restart` next. */
  | { kind: 'paired'; jid: Jid }
  /** Logged in. */
  | { kind: 'authenticated'; jid: Jid }
  /** What waited on the server while we were away has been handed over. */
  | { kind: 'drained' }
  /** The last signal of a session. Everything the session had written is stored. */
  | { kind: 'closed'; closing: Closing }

/** To be typed on the phone; `expiresAt` in epoch milliseconds. */
export type PairingCode = { code: string; expiresAt: number }

/** What became of a send that was not acknowledged. */
export type SendOutcome =
  /** Nothing left this process: it may be tried again as it is. */
  | 'not_sent'
  /** The frame may have arrived: only a repeat under the same id is safe. */
  | 'unknown'
  /** The network said no, and will again. */
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

/** The message a reply refers to; `text` is what the recipient sees of it. */
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
      /** Recordings and stickers have none. */
      caption: string | null
      mentions: readonly Person[]
      quote: QuotedMessage | null
    }
  /** An empty emoji takes the reaction back. */
  | { type: 'reaction'; target: MessageKey; emoji: string }
  | { type: 'edit'; target: MessageKey; text: string }
  | { type: 'revoke'; target: MessageKey }

export type SendOptions = { after?: Promise<unknown> | undefined }

export type GroupMember = Person & {
  name: string | null
  redactedPhone: string | null
  role: 'member' | 'admin' | 'superadmin'
}

export type GroupInfo = { id: string; subject: string; members: readonly GroupMember[] }

/** One connection. Signals come in order, never before open() has resolved, and never after close() has resolved. */
export type NetworkSession = {
  /** Resolves when the server answered a ping; rejects when it did not within `ms`. */
  probe(ms: number): Promise<void>
  /** Asks for a code to type on the phone instead of scanning; only while pairing. */
  requestPairingCode(phone: string): Promise<PairingCode>
  /**
   * Sends the content under this message id. Resolves when the server has acknowledged it; rejects with a SendError.
   * The preparation starts at once. Nothing leaves before `after` has resolved; if `after` rejects, nothing leaves at all.
   */
  send(address: Jid, content: OutgoingContent, messageId: NetworkMessageId, options?: SendOptions): Promise<void>
  /** An id nobody has used yet, to be stored before the first attempt. */
  newMessageId(): NetworkMessageId
  /** The account behind a phone number, in the spelling the network uses; null when there is none. */
  findPerson(phone: string): Promise<Person | null>
  groupInfo(groupId: string): Promise<GroupInfo>
  markRead(keys: readonly MessageKey[]): Promise<void>
  /** Shows or ends "typing" in a chat; best effort. */
  setTyping(address: Jid, typing: boolean): Promise<void>
  /** Shows the account as online or not. Who is not online is not told who types; who is silences the phone. */
  setAvailable(available: boolean): Promise<void>
  /** Asks the phone to upload a file again that the server no longer has. */
  requestFileAgain(message: MessageKey, file: FileRef): Promise<FileRef>
  /** Until when the network lets the account write only to people it has a chat with; null when it names no time. */
  restrictedUntil(): Promise<number | null>
  /** Tells the network to forget this device; resolves when it was told. A `closed` signal may follow. */
  logout(): Promise<void>
  /** Closes without logging out; no `closed` signal follows. Does no harm on a session that has ended. */
  close(): Promise<void>
}

export type SessionName = { sessionId: string; instance: InstanceName }

/** What is remembered of the message that a sealed event refers to. */
export type Unsealing = { secret: string; sender: Person; ownJid: Jid; pollOptions: readonly string[] }
export type UnsealedContent =
  | { type: 'poll_vote'; options: readonly string[] }
  | { type: 'edit'; content: MessageEvent['content']; mentions: readonly Person[] }

/** The file cannot be fetched: gone from the server (the phone may still have it), or worthless. */
export class FileError extends Error {
  readonly gone: boolean

  constructor(gone: boolean, reason: string, options?: { cause: unknown }) {
    super(reason, options)
    this.name = 'FileError'
    this.gone = gone
  }
}

/** A row of the inbox, as it was stored. */
export type ReceivedRow = { id: RowId; event: NetworkEvent; receivedAt: number }

/** What was learnt of somebody's names; a saved name of null was taken out of the address book. */
export type PersonNames = { person: Person; pushName?: string; savedName?: string | null }

/** Two addresses of one person, as the server itself stated. */
export type PersonPair = { phone: string; lid: string }

/** Who hears of what arrives. Nothing here may throw or take long. */
export type Reception = {
  /** Stored before this is called, in order; at boot the rows are found in the inbox. */
  onReceived(instance: InstanceName, rows: readonly ReceivedRow[]): void
  /** Best effort: nothing is lost with it that would not come again. */
  onNames(instance: InstanceName, names: readonly PersonNames[]): void
  onPairs(instance: InstanceName, pairs: readonly PersonPair[]): void
  /** Something that belongs to no chat, by its kind: a status, a channel, the network's own business. */
  onPassedOver(instance: InstanceName, kind: string): void
  /** Something was received before; it was confirmed again and is otherwise ignored. */
  onRepeated(instance: InstanceName): void
}

/** The part of the network that the life of an account is made of. */
export type AccountNetwork = Pick<Network, 'open' | 'storedJid' | 'release' | 'forget' | typeof Symbol.asyncDispose>

export type Network = {
  /**
   * Connects with the stored credentials of this session, or starts a pairing when there are none.
   * What is received is stored in the inbox of `instance` before the network is told that it arrived.
   */
  open(session: SessionName, onSignal: (signal: SessionSignal) => void): Promise<NetworkSession>
  /** The decrypted bytes of a file, checked while they pass; the stream fails when they are not what was sent. */
  download(file: FileRef, signal: AbortSignal): Promise<Readable>
  /** What a sealed event says, with the message it refers to; null when it cannot be opened. */
  unseal(event: SealedEvent, target: Unsealing): UnsealedContent | null
  /** The jid (without device part) of the linked account whose credentials are stored, or null. */
  storedJid(sessionId: string): Promise<Jid | null>
  /** Closes the session and lets go of what is remembered of it; what is stored stays. */
  release(sessionId: string): Promise<void>
  /** Removes everything stored for the session. */
  forget(sessionId: string): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

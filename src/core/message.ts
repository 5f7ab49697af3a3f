// Received events in the service's own words. They are stored as JSON until the helpdesk has them.

import type { Chat, Person } from './address.ts'
import type { InstanceName, Jid, NetworkMessageId, RowId } from './ids.ts'

/** The data that fetches a file from the network; only the network room reads it. Bytes are base64. */
export type FileRef = {
  kind: 'image' | 'video' | 'audio' | 'document' | 'sticker'
  url: string | null
  directPath: string | null
  mediaKey: string
  sha256: string | null
  encSha256: string | null
}

export type MediaKind = 'image' | 'video' | 'gif' | 'video_note' | 'audio' | 'voice' | 'document' | 'sticker'

export type MediaContent = {
  type: 'media'
  media: MediaKind
  file: FileRef
  mimeType: string
  /** As stated by the sender; null when it was not. */
  size: number | null
  fileName: string | null
  caption: string | null
  seconds: number | null
}

export type Mark = 'pinned' | 'unpinned' | 'kept' | 'unkept'

export type ContactCard = { name: string; phones: readonly string[]; organisation: string | null }

export type Content =
  | { type: 'text'; text: string }
  | MediaContent
  | {
      type: 'location'
      latitude: number
      longitude: number
      name: string | null
      address: string | null
      caption: string | null
      live: boolean
    }
  | { type: 'contacts'; cards: readonly ContactCard[] }
  | { type: 'poll'; question: string; options: readonly string[] }
  /** A choice from a list, or a tapped button. */
  | { type: 'choice'; text: string; description: string | null }
  /** Announces files that follow one by one. */
  | { type: 'album'; images: number; videos: number }
  /** Only the phone may show it. */
  | { type: 'view_once'; media: MediaKind | null }
  /** A message of the chat was pinned or kept for all members. */
  | { type: 'mark'; mark: Mark }
  /** Any other kind, with the network's name for it; `text` is its readable part. */
  | { type: 'unsupported'; name: string; text: string | null }

export type Quote = {
  id: string
  sender: Person | null
  fromMe: boolean
  /** The text of the quoted message; null when it has none. */
  text: string | null
  /** The kind of the quoted file, when it has no text. */
  media?: MediaKind
  /** The people that the text mentions. */
  mentions?: readonly Person[]
}

export type Ad = { title: string | null; body: string | null; url: string | null }

/** The fields of every event. */
export type Envelope = {
  /** The network's id of this message. */
  id: NetworkMessageId
  /** When it was sent, epoch milliseconds. */
  at: number
  chat: Chat
  /** The author; in a chat of two the other person, or the account itself when `fromMe`. */
  sender: Person
  fromMe: boolean
  /** The name that the sender has chosen. */
  pushName: string | null
  /** Chat and author as the message named them; receipts and later references must use the same addresses. */
  address?: { chat: Jid; participant: Jid | null }
}

export type MessageEvent = Envelope & {
  kind: 'message'
  content: Content
  quote: Quote | null
  mentions: readonly Person[]
  ad: Ad | null
  /** Opens what later refers to this message (votes, sealed edits); base64. */
  secret: string | null
  /** This service sent the message for a program. It is counted as sent already. */
  isDirect?: true
  /** The row of the outbox from which a direct message was sent. */
  queueId?: RowId
}

/** Names a message as the network needs it for receipts, reactions, quotes and revokes. */
export type MessageKey = { chat: Jid; id: NetworkMessageId; fromMe: boolean; participant: Jid | null }

export type ReactionEvent = Envelope & {
  kind: 'reaction'
  target: MessageKey
  /** Empty when a reaction was taken back. */
  emoji: string
}

export type EditEvent = Envelope & { kind: 'edit'; target: MessageKey; content: Content; mentions: readonly Person[] }

type RevokeEvent = Envelope & { kind: 'revoke'; target: MessageKey }

/** An event that only the secret of the message it refers to can open; see Network.unseal. Bytes are base64. */
export type SealedEvent = Envelope & {
  kind: 'sealed'
  purpose: 'poll_vote' | 'edit' | 'reaction' | 'other'
  target: MessageKey
  payload: string
  iv: string
}

/**
 * `caller` is the address to which a rejection goes. It is there while the call rings at this account and can be rejected: not
 * for a call in a group, a call of the account itself, or a call that waited on the server.
 */
export type CallEvent = Envelope & { kind: 'call'; video: boolean; missed: boolean; caller?: Jid }

/**
 * What became of the attempt to reject a call. `unconfirmed`: the network did not confirm the rejection, so the call may have
 * gone on ringing.
 */
export type CallOutcome = 'rejected' | 'unconfirmed'

/** Undefined for a call that the service did not try to reject. Waits for an attempt that is under way. */
export type CallOutcomeOf = (instance: InstanceName, callId: NetworkMessageId) => Promise<CallOutcome | undefined>

/**
 * The keys were missing; the content may still come under the same id. `isAwaited` is false when it was not requested,
 * because this kind of message cannot be opened here.
 */
type UndecryptableEvent = Envelope & { kind: 'undecryptable'; reason: string; isAwaited?: boolean }

export type GroupChange =
  | { change: 'subject'; subject: string }
  | { change: 'description'; description: string }
  | { change: 'picture' }
  | { change: 'locked' | 'announce' | 'approval'; on: boolean }
  /** `isFound`: a message shows the new timer, and does not say who set it. */
  | { change: 'ephemeral'; seconds: number; isFound?: true }
  | { change: 'add' | 'remove' | 'leave' | 'join' | 'promote' | 'demote'; people: readonly Person[] }
  | { change: 'created' | 'invite_link' | 'other'; name: string }

export type GroupEvent = Envelope & { kind: 'group'; changes: readonly GroupChange[] }

export type NetworkEvent =
  MessageEvent | ReactionEvent | EditEvent | RevokeEvent | SealedEvent | CallEvent | UndecryptableEvent | GroupEvent

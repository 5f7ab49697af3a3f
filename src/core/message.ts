// What arrives from the network, in the service's own words. Events are stored as JSON until the helpdesk has them.

import type { Chat, Person } from './address.ts'
import type { Jid, NetworkMessageId } from './ids.ts'

/** What a file on the network is fetched with; only the network room looks inside. Bytes are base64. */
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
  /** What somebody picked from a list or tapped as a button. */
  | { type: 'choice'; text: string; description: string | null }
  /** Announces files that follow one by one. */
  | { type: 'album'; images: number; videos: number }
  /** Only the phone may show it. */
  | { type: 'view_once'; media: MediaKind | null }
  /** What somebody did to a message in the chat, for everybody in it. */
  | { type: 'mark'; mark: Mark }
  /** Anything else, by the network's own name for it; `text` is what a person could read of it. */
  | { type: 'unsupported'; name: string; text: string | null }

export type Quote = {
  id: string
  sender: Person | null
  fromMe: boolean
  /** What can be shown of the quoted message; null when nothing can. */
  text: string | null
  /** What kind of file it is, where that is all that can be said of it. */
  media?: MediaKind
  /** Whom that mentions, if anybody. */
  mentions?: readonly Person[]
}

export type Ad = { title: string | null; body: string | null; url: string | null }

/** What every event carries. */
export type Envelope = {
  /** The network's id of this message. */
  id: NetworkMessageId
  /** When it was sent, epoch milliseconds. */
  at: number
  chat: Chat
  /** Who wrote it; in a chat of two the other side, or the account itself when `fromMe`. */
  sender: Person
  fromMe: boolean
  /** The name the sender gave himself. */
  pushName: string | null
  /** Chat and author in the addressing the message came in, which receipts and later references must use. */
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

export type RevokeEvent = Envelope & { kind: 'revoke'; target: MessageKey }

/** Can be read only with the secret of the message it refers to; see Network.unseal. Bytes are base64. */
export type SealedEvent = Envelope & {
  kind: 'sealed'
  purpose: 'poll_vote' | 'edit' | 'other'
  target: MessageKey
  payload: string
  iv: string
}

export type CallEvent = Envelope & { kind: 'call'; video: boolean; missed: boolean }

/**
 * The keys were missing; the content may still come, under the same id. `isAwaited` is false where nobody was asked for it:
 * a message of a kind that cannot be opened here.
 */
export type UndecryptableEvent = Envelope & { kind: 'undecryptable'; reason: string; isAwaited?: boolean }

export type GroupChange =
  | { change: 'subject'; subject: string }
  | { change: 'description'; description: string }
  | { change: 'picture' }
  | { change: 'locked' | 'announce' | 'approval'; on: boolean }
  | { change: 'ephemeral'; seconds: number }
  | { change: 'add' | 'remove' | 'leave' | 'join' | 'promote' | 'demote'; people: readonly Person[] }
  | { change: 'created' | 'invite_link' | 'other'; name: string }

export type GroupEvent = Envelope & { kind: 'group'; changes: readonly GroupChange[] }

export type NetworkEvent =
  MessageEvent | ReactionEvent | EditEvent | RevokeEvent | SealedEvent | CallEvent | UndecryptableEvent | GroupEvent

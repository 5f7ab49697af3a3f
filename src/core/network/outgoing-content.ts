// What the service sends through the network.

import type { Person } from '../address.ts'
import type { MessageKey } from '../message.ts'

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

// The kinds of messages in a made-up archive, and what each of them looks like on the phone.
import type { PastMessage } from '../accounts/archived-message.ts'
import type { SimPhone } from '../accounts/sim-phone.ts'
import type { MediaKind } from '../media/media-cipher.ts'
import { mediaWith, type FileFields } from '../media/media-contents.ts'
import type { User } from '../server/user.ts'

export const pastKinds = ['text', 'quote', 'edited', 'revoked', 'image', 'document', 'voice'] as const
export type PastKind = (typeof pastKinds)[number]
/** One message as the phone shows it. `text` is the latest text, or the caption of a file. */
export type PastItem = {
  id: string
  kind: PastKind
  isOwn: boolean
  author: User
  text: string
  /** Unix seconds. */
  at: number
  /** How many people have reacted. */
  reactions: number
}
export type PastShape = Omit<PastItem, 'id' | 'author'>

/** The repeated order of the kinds. Every kind comes early, so that a short chat has most of them. */
const ROUND: readonly { kind: PastKind; isOwn?: boolean; reactions?: number }[] = [
  { kind: 'text' },
  { kind: 'text', isOwn: true },
  { kind: 'quote' },
  { kind: 'image' },
  { kind: 'text', reactions: 1 },
  { kind: 'quote', isOwn: true },
  { kind: 'edited' },
  { kind: 'text' },
  { kind: 'revoked' },
  { kind: 'document', isOwn: true },
  { kind: 'text', isOwn: true, reactions: 1 },
  { kind: 'voice' },
]

/** The n-th message of a chat, always the same for the same chat and number. */
export function shapeOf(chat: number, n: number, at: number): PastShape {
  const { kind, isOwn = false, reactions = 0 } = ROUND[n % ROUND.length] ?? { kind: 'text' }
  const words = kind === 'voice' || kind === 'revoked' ? '' : `chat ${chat} message ${n}`
  return { kind, isOwn, reactions, at, text: kind === 'edited' ? `${words}, edited` : words }
}

/** Makes the contents. Messages of one kind share a file on the media host. */
export class PastContents {
  readonly #phone: SimPhone
  readonly #files = new Map<MediaKind, FileFields>()

  constructor(phone: SimPhone) {
    this.#phone = phone
  }

  /** `quoted` is the id of the message that a quote is about; `reactor` reacts where the shape has a reaction. */
  of(shape: PastShape, quoted: string | undefined, reactor: User): Omit<PastMessage, 'from'> {
    const { kind, text, at } = shape
    const reactions = shape.reactions > 0 ? { reactions: [{ emoji: '👍', from: reactor }] } : {}
    switch (kind) {
      case 'text':
        return { text, at, ...reactions }
      case 'quote':
        return { text, at, ...(quoted === undefined ? {} : { quote: quoted }) }
      case 'edited':
        return { text: 'before the edit', edited: text, at }
      case 'revoked':
        return { text: 'deleted', revoked: true, at }
      case 'image':
        return { message: mediaWith('image', this.#file('image'), { caption: text }), at }
      case 'document':
        return { message: mediaWith('document', this.#file('document'), { caption: text, fileName: 'past.pdf' }), at }
      case 'voice':
        return { message: mediaWith('audio', this.#file('audio'), { voice: true }), at }
    }
  }

  #file(kind: MediaKind): FileFields {
    const known = this.#files.get(kind) ?? this.#phone.upload(kind, Buffer.from(`a past ${kind}`))
    this.#files.set(kind, known)
    return known
  }
}

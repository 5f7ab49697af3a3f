// Carries a piece of history to a companion: inside the message, or as a file on the media host.
import { deflateSync } from 'node:zlib'
import type { proto } from '../library.ts'
import { sealWith } from '../media/media-cipher.ts'
import type { MediaHost, MediaTrouble } from '../media/media-host.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { encodeHistory, historyNotice, type HistoryChunk, type HistoryKind } from './history.ts'

/**
 * size    small pieces inside the message, larger ones as files
 * phone   as real phones: only the bootstrap, the status updates and the push names may be inside the message
 * inline  always inside the message
 * file    always a file
 */
export type Carrying = 'size' | 'phone' | 'inline' | 'file'
export type CarryingHabits = {
  carrying: Carrying
  /** A compressed piece above that size becomes a file. */
  inlineBytes: number
  /** The fault of the files that are put on the media host from now on. */
  fileTrouble: MediaTrouble | undefined
}
type Deps = { host: MediaHost; random: SeededRandom; habits: CarryingHabits }

const INLINE_KINDS: ReadonlySet<HistoryKind> = new Set(['bootstrap', 'status', 'pushNames'])

export class HistoryCarriers {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** `readsInline`: whether the companion reads a history inside the message. */
  carry(chunk: HistoryChunk, readsInline = true): proto.IMessage {
    const packed = pack(chunk)
    const carrier =
      readsInline && this.#fitsInside(chunk.kind, packed.length)
        ? { initialHistBootstrapInlinePayload: packed }
        : this.#upload(chunk, packed)
    return historyNotice(chunk, carrier)
  }

  #fitsInside(kind: HistoryKind, size: number): boolean {
    const { carrying, inlineBytes } = this.#deps.habits
    if (carrying === 'inline' || carrying === 'file') return carrying === 'inline'
    return size <= inlineBytes && (carrying === 'size' || INLINE_KINDS.has(kind))
  }

  /** The host does not keep the file. It makes the file when a companion fetches it. */
  #upload(chunk: HistoryChunk, packed: Buffer): proto.Message.IHistorySyncNotification {
    const { host, random, habits } = this.#deps
    const mediaKey = random.bytes(32)
    const { fileSha256, fileEncSha256, fileLength } = sealWith('history', packed, mediaKey)
    const { directPath } = host.put(() => sealWith('history', pack(chunk), mediaKey).sealed)
    host.trouble(directPath, habits.fileTrouble)
    return { directPath, mediaKey, fileSha256, fileEncSha256, fileLength }
  }
}

function pack(chunk: HistoryChunk): Buffer {
  return deflateSync(encodeHistory(chunk))
}

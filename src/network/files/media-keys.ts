// Derives the keys that seal one file from its media key.

import { hkdfSync } from 'node:crypto'
import type { FileRef } from '../../core/message.ts'

export const mediaKeyLength = 32
/** A sealed file ends with the first bytes of its authentication code. */
export const macLength = 10

/** A file of the media host: that of a message, or a history. */
export type SealedFile = Omit<FileRef, 'kind'> & { kind: FileRef['kind'] | 'history' }

const purposes: Record<SealedFile['kind'], string> = {
  image: 'WhatsApp Image Keys',
  sticker: 'WhatsApp Image Keys',
  video: 'WhatsApp Video Keys',
  audio: 'WhatsApp Audio Keys',
  document: 'WhatsApp Document Keys',
  history: 'WhatsApp History Keys',
}
/** The network derives 112 bytes. The last 32 are for reading from the middle of a file, which we never do. */
const derivedLength = 112

export function mediaKeysOf(
  mediaKey: Buffer,
  kind: SealedFile['kind'],
): { iv: Buffer; cipherKey: Buffer; macKey: Buffer } {
  const keys = Buffer.from(hkdfSync('sha256', mediaKey, Buffer.alloc(0), purposes[kind], derivedLength))
  return { iv: keys.subarray(0, 16), cipherKey: keys.subarray(16, 48), macKey: keys.subarray(48, 80) }
}

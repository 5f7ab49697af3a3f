// Encrypts and decrypts media files as clients do: AES-CBC with keys from the media key, then a MAC of ten bytes.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { SeededRandom } from '../seeded-random.ts'
import { decryptCbc, derive, encryptCbc, hmac } from '../signal/primitives.ts'

export type MediaKind = 'image' | 'video' | 'audio' | 'document' | 'sticker'
/** A history is a file that no message shows. */
export type SealedKind = MediaKind | 'history'
export type SealedMedia = {
  sealed: Buffer
  mediaKey: Buffer
  fileSha256: Buffer
  fileEncSha256: Buffer
  fileLength: number
}

const KEY_NAMES: Record<SealedKind, string> = {
  image: 'Image',
  sticker: 'Image',
  video: 'Video',
  audio: 'Audio',
  document: 'Document',
  history: 'History',
}

function keysFor(kind: SealedKind, mediaKey: Uint8Array): { iv: Buffer; cipherKey: Buffer; macKey: Buffer } {
  const keys = derive(mediaKey, Buffer.alloc(0), `WhatsApp ${KEY_NAMES[kind]} Keys`, 112)
  return { iv: keys.subarray(0, 16), cipherKey: keys.subarray(16, 48), macKey: keys.subarray(48, 80) }
}

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

export function sealMedia(kind: MediaKind, plain: Buffer, random: SeededRandom): SealedMedia {
  return sealWith(kind, plain, random.bytes(32))
}

/** The same file and the same key always give the same bytes. */
export function sealWith(kind: SealedKind, plain: Buffer, mediaKey: Buffer): SealedMedia {
  const { iv, cipherKey, macKey } = keysFor(kind, mediaKey)
  const encrypted = encryptCbc(cipherKey, iv, plain)
  const mac = hmac(macKey, Buffer.concat([iv, encrypted])).subarray(0, 10)
  const sealed = Buffer.concat([encrypted, mac])
  return { sealed, mediaKey, fileSha256: sha256(plain), fileEncSha256: sha256(sealed), fileLength: plain.length }
}

/** Decrypts a file. Throws unless the file agrees with every hash in the message. */
export function openMedia(kind: SealedKind, sealed: Buffer, description: Omit<SealedMedia, 'sealed'>): Buffer {
  const { iv, cipherKey, macKey } = keysFor(kind, description.mediaKey)
  const encrypted = sealed.subarray(0, -10)
  const mac = hmac(macKey, Buffer.concat([iv, encrypted])).subarray(0, 10)
  if (!timingSafeEqual(mac, sealed.subarray(-10))) throw new Error('the MAC of the file is wrong')
  if (!sha256(sealed).equals(description.fileEncSha256)) throw new Error('the hash of the sealed file is wrong')
  const plain = decryptCbc(cipherKey, iv, encrypted)
  if (!sha256(plain).equals(description.fileSha256)) throw new Error('the hash of the file is wrong')
  if (plain.length !== description.fileLength) throw new Error('the length of the file is wrong')
  return plain
}

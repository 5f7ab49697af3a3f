// Seals a file as the network wants it: twice over the file instead of once into memory or onto the disk.
//
// The address of an upload names the hash of what is uploaded, so that must be known before the first byte leaves.

import { createCipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { FileRef } from '../../core/message.ts'

export type SealedFile = {
  mediaKey: Buffer
  sha256: Buffer
  encSha256: Buffer
  /** Of the file itself, and of what is uploaded. */
  size: number
  sealedSize: number
  /** What is uploaded, from the start, as often as it is asked for. */
  open(): Readable
}

const keyNames: Record<FileRef['kind'], string> = {
  image: 'Image',
  sticker: 'Image',
  video: 'Video',
  audio: 'Audio',
  document: 'Document',
}
const macLength = 10
/** Small, so that what is sealed is collected while it is young: larger pieces pile up to tens of megabytes. */
const chunkBytes = 16 * 1024

export async function sealFile(path: string, kind: FileRef['kind'], signal: AbortSignal): Promise<SealedFile> {
  const mediaKey = randomBytes(32)
  const plain = createHash('sha256')
  const sealed = createHash('sha256')
  let size = 0
  let sealedSize = 0
  const onPlain = (chunk: Buffer) => {
    plain.update(chunk)
    size += chunk.length
  }
  for await (const chunk of sealedBytes({ path, kind, mediaKey, signal, onPlain })) {
    sealed.update(chunk)
    sealedSize += chunk.length
  }
  const openSealed = () => Readable.from(sealedBytes({ path, kind, mediaKey, signal }), { objectMode: false })
  return { mediaKey, sha256: plain.digest(), encSha256: sealed.digest(), size, sealedSize, open: openSealed }
}

type Parts = {
  path: string
  kind: FileRef['kind']
  mediaKey: Buffer
  signal: AbortSignal
  onPlain?: (chunk: Buffer) => void
}

async function* sealedBytes({ path, kind, mediaKey, signal, onPlain }: Parts): AsyncGenerator<Buffer> {
  const keys = Buffer.from(hkdfSync('sha256', mediaKey, Buffer.alloc(0), `WhatsApp ${keyNames[kind]} Keys`, 112))
  const [iv, cipherKey, macKey] = [keys.subarray(0, 16), keys.subarray(16, 48), keys.subarray(48, 80)]
  const cipher = createCipheriv('aes-256-cbc', cipherKey, iv)
  const mac = createHmac('sha256', macKey).update(iv)
  const pass = (sealed: Buffer) => {
    mac.update(sealed)
    return sealed
  }
  await using file = await open(path)
  // One buffer for all of the file: what is yielded is a sealed copy.
  const buffer = Buffer.allocUnsafeSlow(chunkBytes)
  for (;;) {
    signal.throwIfAborted()
    const { bytesRead } = await file.read(buffer, 0, chunkBytes)
    if (bytesRead === 0) break
    const chunk = buffer.subarray(0, bytesRead)
    onPlain?.(chunk)
    yield pass(cipher.update(chunk))
  }
  yield pass(cipher.final())
  yield mac.digest().subarray(0, macLength)
}

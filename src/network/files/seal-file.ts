// Seals a file for upload as a stream, in constant memory.
//
// The upload address contains the hash of the sealed bytes, so the hash must be known before the first byte leaves. The file
// is therefore read and sealed twice, instead of keeping the sealed bytes in memory or on disk.

import { createCipheriv, createHash, createHmac, randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { FileRef } from '../../core/message.ts'
import { macLength, mediaKeyLength, mediaKeysOf } from './media-keys.ts'

export type SealedFile = {
  mediaKey: Buffer
  sha256: Buffer
  encSha256: Buffer
  /** The size of the plain file. */
  size: number
  /** The size of the upload. */
  sealedSize: number
  /** Opens a new stream of the sealed bytes, from the start. */
  open(): Readable
}

/** Small chunks are garbage-collected while they are young. Larger chunks add up to tens of megabytes. */
const chunkBytes = 16 * 1024

export async function sealFile(path: string, kind: FileRef['kind'], signal: AbortSignal): Promise<SealedFile> {
  const mediaKey = randomBytes(mediaKeyLength)
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
  const { iv, cipherKey, macKey } = mediaKeysOf(mediaKey, kind)
  const cipher = createCipheriv('aes-256-cbc', cipherKey, iv)
  const mac = createHmac('sha256', macKey).update(iv)
  const pass = (sealed: Buffer) => {
    mac.update(sealed)
    return sealed
  }
  await using file = await open(path)
  // One buffer serves the whole file, because the cipher yields copies.
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

// Decrypts a file of the network as a stream, in constant memory.
//
// The authentication code comes last. So the reader must not trust any byte before the stream has ended.

import { createDecipheriv, createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Decipheriv, Hash } from 'node:crypto'
import { Transform } from 'node:stream'
import type { TransformCallback } from 'node:stream'
import { FileError } from '../../core/network.ts'
import { noteBufferGarbage } from '../../lib/buffer-garbage.ts'
import { macLength, mediaKeyLength, mediaKeysOf } from './media-keys.ts'
import type { SealedFile } from './media-keys.ts'

export class FileOpener extends Transform {
  readonly #file: SealedFile
  readonly #decipher: Decipheriv
  readonly #mac: ReturnType<typeof createHmac>
  readonly #sealedHash: Hash = createHash('sha256')
  readonly #plainHash: Hash = createHash('sha256')
  /** The last bytes that arrived. They may be the authentication code. */
  #end: Buffer = Buffer.alloc(0)

  constructor(file: SealedFile) {
    super()
    const mediaKey = Buffer.from(file.mediaKey, 'base64')
    if (mediaKey.length !== mediaKeyLength) throw new FileError(false, 'the message did not carry the key of its file')
    const { iv, cipherKey, macKey } = mediaKeysOf(mediaKey, file.kind)
    this.#file = file
    this.#decipher = createDecipheriv('aes-256-cbc', cipherKey, iv)
    this.#mac = createHmac('sha256', macKey).update(iv)
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#sealedHash.update(chunk)
    const bytes = this.#end.length > 0 ? Buffer.concat([this.#end, chunk]) : chunk
    const body = bytes.subarray(0, Math.max(bytes.length - macLength, 0))
    this.#end = bytes.subarray(body.length)
    this.#mac.update(body)
    noteBufferGarbage(body.length)
    done(null, this.#passOn(this.#decipher.update(body)))
  }

  override _flush(done: TransformCallback): void {
    try {
      this.#check('the authentication code', this.#end, this.#mac.digest().subarray(0, macLength))
      const { encSha256, sha256 } = this.#file
      if (encSha256 !== null) this.#check('the hash', Buffer.from(encSha256, 'base64'), this.#sealedHash.digest())
      const rest = this.#passOn(this.#decipher.final())
      if (sha256 !== null)
        this.#check('the hash of the content', Buffer.from(sha256, 'base64'), this.#plainHash.digest())
      done(null, rest)
    } catch (cause) {
      done(cause instanceof FileError ? cause : new FileError(false, 'the file is damaged', { cause }))
    }
  }

  #passOn(plain: Buffer): Buffer {
    this.#plainHash.update(plain)
    return plain
  }

  #check(what: string, stated: Uint8Array, found: Uint8Array): void {
    if (stated.length === found.length && timingSafeEqual(stated, found)) return
    throw new FileError(false, `the file is damaged: ${what} is wrong`)
  }
}

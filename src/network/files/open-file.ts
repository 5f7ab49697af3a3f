// Decrypts a file of the network while it passes: constant memory, whatever its size.
//
// Only the end tells whether the bytes are what was sent: whoever reads them must not trust any before the stream has ended.

import { createDecipheriv, createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Decipheriv, Hash } from 'node:crypto'
import { Transform } from 'node:stream'
import type { TransformCallback } from 'node:stream'
import type { FileRef } from '../../core/message.ts'
import { FileError } from '../../core/network.ts'
import { noteBufferGarbage } from '../../lib/buffer-garbage.ts'

const purposes: Record<FileRef['kind'], string> = {
  image: 'WhatsApp Image Keys',
  sticker: 'WhatsApp Image Keys',
  video: 'WhatsApp Video Keys',
  audio: 'WhatsApp Audio Keys',
  document: 'WhatsApp Document Keys',
}
const keyLength = 32
/** Of the authentication code, which ends the file. */
const codeLength = 10

export class FileOpener extends Transform {
  readonly #file: FileRef
  readonly #decipher: Decipheriv
  readonly #code: ReturnType<typeof createHmac>
  readonly #sealedHash: Hash = createHash('sha256')
  readonly #plainHash: Hash = createHash('sha256')
  /** The last bytes that came: they may be the code. */
  #end: Buffer = Buffer.alloc(0)

  constructor(file: FileRef) {
    super()
    const mediaKey = Buffer.from(file.mediaKey, 'base64')
    if (mediaKey.length !== keyLength) throw new FileError(false, 'the message did not carry the key of its file')
    const keys = Buffer.from(hkdfSync('sha256', mediaKey, Buffer.alloc(0), purposes[file.kind], 112))
    const iv = keys.subarray(0, 16)
    this.#file = file
    this.#decipher = createDecipheriv('aes-256-cbc', keys.subarray(16, 48), iv)
    this.#code = createHmac('sha256', keys.subarray(48, 80)).update(iv)
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#sealedHash.update(chunk)
    const bytes = this.#end.length > 0 ? Buffer.concat([this.#end, chunk]) : chunk
    const body = bytes.subarray(0, Math.max(bytes.length - codeLength, 0))
    this.#end = bytes.subarray(body.length)
    this.#code.update(body)
    noteBufferGarbage(body.length)
    done(null, this.#passOn(this.#decipher.update(body)))
  }

  override _flush(done: TransformCallback): void {
    try {
      this.#check('the authentication code', this.#end, this.#code.digest().subarray(0, codeLength))
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

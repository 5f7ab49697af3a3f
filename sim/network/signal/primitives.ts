// The symmetric steps of the Signal protocol: key derivation, message encryption, chain steps.
//
// Node gets keys as key objects: with bytes, each call takes several times longer.
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync } from 'node:crypto'
import { Memo } from './memo.ts'

export function derive(secret: Uint8Array, salt: Uint8Array, info: string, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', createSecretKey(secret), salt, info, length))
}

export function hmac(key: Uint8Array, data: Uint8Array): Buffer {
  return createHmac('sha256', createSecretKey(key)).update(data).digest()
}

export function encryptCbc(key: Uint8Array, iv: Uint8Array, plain: Uint8Array): Buffer {
  const cipher = createCipheriv('aes-256-cbc', createSecretKey(key), iv)
  return Buffer.concat([cipher.update(plain), cipher.final()])
}

export function decryptCbc(key: Uint8Array, iv: Uint8Array, sealed: Uint8Array): Buffer {
  const cipher = createDecipheriv('aes-256-cbc', createSecretKey(key), iv)
  return Buffer.concat([cipher.update(sealed), cipher.final()])
}

const MESSAGE = Buffer.from([1])
const CHAIN = Buffer.from([2])
const steps = new Memo<{ key: Buffer; next: Buffer }>()

/** A chain gives one key per message and cannot compute earlier keys again. */
export class Chain {
  key: Buffer
  next: number
  readonly skipped = new Map<number, Buffer>()

  constructor(key: Buffer, next = 0) {
    this.key = key
    this.next = next
  }

  clone(): Chain {
    const copy = new Chain(this.key, this.next)
    for (const [index, key] of this.skipped) copy.skipped.set(index, key)
    return copy
  }

  step(): { index: number; key: Buffer } {
    const { key, next } = steps.get([this.key], () => ({ key: hmac(this.key, MESSAGE), next: hmac(this.key, CHAIN) }))
    this.key = next
    return { index: this.next++, key }
  }

  /** Returns the key of one message and keeps the keys of the messages it skips. */
  take(index: number): Buffer {
    const kept = this.skipped.get(index)
    if (kept) {
      this.skipped.delete(index)
      return kept
    }
    if (index < this.next) throw new Error(`message ${index} of this chain was already opened`)
    if (index - this.next > 2000) throw new Error('more than 2000 messages ahead')
    while (this.next < index) {
      const { index: passed, key } = this.step()
      this.skipped.set(passed, key)
    }
    return this.step().key
  }
}

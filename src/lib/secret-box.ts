// Encrypts stored values with AES-256-GCM; the key id in front of each value lets keys rotate.
//
// A stored value is one marker byte and what follows it:
//   0 plain bytes · 1 key id (4) nonce (12) tag (16) ciphertext

import { createCipheriv, createDecipheriv, createHash, createSecretKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { drawRandomBytes } from './random/random-bytes.ts'

const plainMarker = 0
const sealedMarker = 1
/** Stands for a key where values are stored without one. */
const noKey = 'plain'
const keyIdEnd = 5
const nonceEnd = keyIdEnd + 12
const tagEnd = nonceEnd + 16

/** How many leading bytes tell which key, if any, a stored value needs. */
export const keyPrefixLength = keyIdEnd

export class SecretBox {
  readonly #keys: ReadonlyMap<string, KeyObject>
  readonly #sealingKey: { id: Uint8Array; key: KeyObject } | undefined

  /** The first key seals, all of them open. Without keys values are stored plain. */
  constructor(keys: readonly Uint8Array[]) {
    // Node handles keys that come as bytes slowly.
    this.#keys = new Map(keys.map((key) => [hex(keyIdOf(key)), createSecretKey(key)]))
    const first = keys[0]
    this.#sealingKey = first && { id: keyIdOf(first), key: createSecretKey(first) }
  }

  /** `place` names the table, row and column: a value moved elsewhere does not open. */
  seal(value: Uint8Array, place: string): Uint8Array {
    if (!this.#sealingKey) return Buffer.concat([Buffer.of(plainMarker), value])
    const nonce = drawRandomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.#sealingKey.key, nonce).setAAD(Buffer.from(place))
    const body = Buffer.concat([cipher.update(value), cipher.final()])
    return Buffer.concat([Buffer.of(sealedMarker), this.#sealingKey.id, nonce, cipher.getAuthTag(), body])
  }

  open(stored: Uint8Array, place: string): Uint8Array {
    if (stored[0] === plainMarker) return stored.subarray(1)
    if (stored[0] !== sealedMarker || stored.length < tagEnd) throw new Error(`damaged secret at ${place}`)
    const key = this.#keys.get(hex(stored.subarray(1, keyIdEnd)))
    if (!key) throw new Error(`no configured key opens the secret at ${place}`)
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, stored.subarray(keyIdEnd, nonceEnd))
        .setAAD(Buffer.from(place))
        .setAuthTag(stored.subarray(nonceEnd, tagEnd))
      return Buffer.concat([decipher.update(stored.subarray(tagEnd)), decipher.final()])
    } catch (cause) {
      throw new Error(`damaged secret at ${place}`, { cause })
    }
  }

  /** The ids of all keys that may have sealed values. */
  get keyIds(): string[] {
    return this.#sealingKey ? [...this.#keys.keys()] : [noKey]
  }

  /** Whether the box opens what the key with this id has sealed. */
  knows(keyId: string): boolean {
    return keyId === noKey || this.#keys.has(keyId)
  }

  /** Judges a value by its first bytes and its length only. */
  inspect(prefix: Uint8Array, length: number): 'opens' | 'needs another key' | 'damaged' {
    if (prefix[0] === plainMarker) return 'opens'
    if (prefix[0] !== sealedMarker || length < tagEnd) return 'damaged'
    return this.#keys.has(hex(prefix.subarray(1, keyIdEnd))) ? 'opens' : 'needs another key'
  }
}

function keyIdOf(key: Uint8Array): Uint8Array {
  return createHash('sha256').update('causeway key id').update(key).digest().subarray(0, 4)
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

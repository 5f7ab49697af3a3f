// The phone's side of pairing by code: proves that both sides know the eight characters without sending them.
import { createCipheriv, createDecipheriv, pbkdf2 } from 'node:crypto'
import { promisify } from 'node:util'
import type { SeededRandom } from '../seeded-random.ts'
import { KeyPair } from '../signal/curve.ts'
import { derive } from '../signal/primitives.ts'

const stretch = promisify(pbkdf2)
const ITERATIONS = 2 << 16

async function wrapKey(code: string, salt: Buffer): Promise<Buffer> {
  return stretch(code, salt, ITERATIONS, 32, 'sha256')
}

export class CodePairing {
  readonly #identity: KeyPair
  readonly #ephemeral: KeyPair
  readonly #random: SeededRandom
  #companionEphemeral: Buffer | undefined

  constructor(identity: KeyPair, random: SeededRandom) {
    this.#identity = identity
    this.#random = random
    this.#ephemeral = new KeyPair(random.bytes(32))
  }

  /** Decrypts the companion's ephemeral key with the typed code and returns the phone's key, encrypted the same way. */
  async answer(code: string, wrapped: Buffer): Promise<Buffer> {
    const theirKey = await wrapKey(code, wrapped.subarray(0, 32))
    const decipher = createDecipheriv('aes-256-ctr', theirKey, wrapped.subarray(32, 48))
    this.#companionEphemeral = Buffer.concat([decipher.update(wrapped.subarray(48, 80)), decipher.final()])
    const salt = this.#random.bytes(32)
    const iv = this.#random.bytes(16)
    const cipher = createCipheriv('aes-256-ctr', await wrapKey(code, salt), iv)
    return Buffer.concat([salt, iv, cipher.update(this.#ephemeral.publicKey), cipher.final()])
  }

  /**
   * Decrypts the companion's key bundle and fails on a wrong code. Returns the secret that seals the device identity.
   */
  finish(bundle: Buffer, companionIdentity: Buffer): Buffer {
    if (!this.#companionEphemeral) throw new Error('the companion finished before the phone answered')
    const shared = this.#ephemeral.agree(this.#companionEphemeral)
    const key = derive(shared, bundle.subarray(0, 32), 'link_code_pairing_key_bundle_encryption_key', 32)
    const decipher = createDecipheriv('aes-256-gcm', key, bundle.subarray(32, 44))
    decipher.setAuthTag(bundle.subarray(-16))
    const plain = Buffer.concat([decipher.update(bundle.subarray(44, -16)), decipher.final()])
    if (!plain.subarray(0, 32).equals(companionIdentity)) throw new Error('the companion shows two identities')
    if (!plain.subarray(32, 64).equals(this.#identity.publicKey)) throw new Error('meant for another phone')
    const secret = Buffer.concat([shared, this.#identity.agree(companionIdentity), plain.subarray(64)])
    return derive(secret, Buffer.alloc(0), 'adv_secret', 32)
  }
}

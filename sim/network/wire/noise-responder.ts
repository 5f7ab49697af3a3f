// The server's half of the Noise XX handshake, and the ciphers of both directions after it.
import { createCipheriv, createDecipheriv, createHash, createSecretKey, type KeyObject } from 'node:crypto'
import { NOISE_MODE, NOISE_WA_HEADER } from '../library.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { KeyPair } from '../signal/curve.ts'
import { derive } from '../signal/primitives.ts'
import type { ShownIdentity } from './server-identity.ts'

const NOTHING = Buffer.alloc(0)

function nonce(counter: number): Buffer {
  const iv = Buffer.alloc(12)
  iv.writeUInt32BE(counter, 8)
  return iv
}

function seal(key: Buffer | KeyObject, counter: number, plain: Uint8Array, associated: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce(counter))
  cipher.setAAD(associated)
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function open(key: Buffer | KeyObject, counter: number, sealed: Uint8Array, associated: Buffer): Buffer {
  const cipher = createDecipheriv('aes-256-gcm', key, nonce(counter))
  cipher.setAAD(associated)
  cipher.setAuthTag(sealed.subarray(-16))
  return Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()])
}

/** One key and one counter per direction. Node uses key objects faster than bytes. */
export class NoiseTransport {
  readonly #readKey: KeyObject
  readonly #writeKey: KeyObject
  #read = 0
  #written = 0

  constructor(readKey: Buffer, writeKey: Buffer) {
    this.#readKey = createSecretKey(readKey)
    this.#writeKey = createSecretKey(writeKey)
  }

  seal(plain: Uint8Array): Buffer {
    return seal(this.#writeKey, this.#written++, plain, NOTHING)
  }

  open(sealed: Uint8Array): Buffer {
    return open(this.#readKey, this.#read++, sealed, NOTHING)
  }
}

export class NoiseResponder {
  readonly #identity: ShownIdentity
  readonly #ephemeral: KeyPair
  #hash: Buffer = Buffer.from(NOISE_MODE)
  #salt: Buffer = this.#hash
  #key: Buffer = this.#hash
  #counter = 0

  constructor(identity: ShownIdentity, random: SeededRandom) {
    this.#identity = identity
    this.#ephemeral = new KeyPair(random.bytes(32))
  }

  /** Answers the client's hello with the server's ephemeral key, its static key and its certificate. */
  hello(clientEphemeral: Uint8Array): { ephemeral: Buffer; static: Buffer; payload: Buffer } {
    this.#authenticate(NOISE_WA_HEADER)
    this.#authenticate(clientEphemeral)
    this.#authenticate(this.#ephemeral.publicKey)
    this.#mix(this.#ephemeral.agree(clientEphemeral))
    const sealedStatic = this.#seal(this.#identity.staticKey.publicKey)
    this.#mix(this.#identity.staticKey.agree(clientEphemeral))
    return {
      ephemeral: this.#ephemeral.publicKey,
      static: sealedStatic,
      payload: this.#seal(this.#identity.certificate),
    }
  }

  finish(finish: { static: Uint8Array; payload: Uint8Array }): {
    clientStatic: Buffer
    payload: Buffer
    transport: NoiseTransport
  } {
    const clientStatic = this.#open(finish.static)
    this.#mix(this.#ephemeral.agree(clientStatic))
    const payload = this.#open(finish.payload)
    const keys = derive(NOTHING, this.#salt, '', 64)
    return { clientStatic, payload, transport: new NoiseTransport(keys.subarray(0, 32), keys.subarray(32)) }
  }

  #authenticate(data: Uint8Array): void {
    this.#hash = createHash('sha256').update(this.#hash).update(data).digest()
  }

  #mix(secret: Buffer): void {
    const keys = derive(secret, this.#salt, '', 64)
    this.#salt = keys.subarray(0, 32)
    this.#key = keys.subarray(32)
    this.#counter = 0
  }

  #seal(plain: Buffer): Buffer {
    const sealed = seal(this.#key, this.#counter++, plain, this.#hash)
    this.#authenticate(sealed)
    return sealed
  }

  #open(sealed: Uint8Array): Buffer {
    const plain = open(this.#key, this.#counter++, sealed, this.#hash)
    this.#authenticate(sealed)
    return plain
  }
}

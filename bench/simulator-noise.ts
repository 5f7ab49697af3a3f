// The client's half of the Noise XX handshake without certificate checks, for benchmarks that measure the server alone.
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto'
import { NOISE_MODE, NOISE_WA_HEADER } from '../sim/network/library.ts'
import { derive } from '../sim/network/signal/primitives.ts'
import { NoiseTransport } from '../sim/network/wire/noise-responder.ts'

/** A key that can agree on a secret. */
export type Agreement = { publicKey: Buffer; agree: (theirs: Uint8Array) => Buffer }
type Hello = { ephemeral: Uint8Array; static: Uint8Array; payload: Uint8Array }

function nonce(counter: number): Buffer {
  const iv = Buffer.alloc(12)
  iv.writeUInt32BE(counter, 8)
  return iv
}

export class NoiseInitiator {
  readonly #ephemeral: Agreement
  #hash: Buffer = Buffer.from(NOISE_MODE)
  #salt: Buffer = this.#hash
  #key: Buffer = this.#hash
  #counter = 0

  constructor(ephemeral: Agreement) {
    this.#ephemeral = ephemeral
    this.#authenticate(NOISE_WA_HEADER)
    this.#authenticate(ephemeral.publicKey)
  }

  /** Answers the server's hello with our static key and the login, both sealed. */
  finish(
    hello: Hello,
    noiseKey: Agreement,
    login: Uint8Array,
  ): { static: Buffer; payload: Buffer; transport: NoiseTransport } {
    this.#authenticate(hello.ephemeral)
    this.#mix(this.#ephemeral.agree(hello.ephemeral))
    this.#mix(this.#ephemeral.agree(this.#open(hello.static)))
    this.#open(hello.payload)
    const sealedKey = this.#seal(noiseKey.publicKey)
    this.#mix(noiseKey.agree(hello.ephemeral))
    const payload = this.#seal(login)
    const keys = derive(Buffer.alloc(0), this.#salt, '', 64)
    return { static: sealedKey, payload, transport: new NoiseTransport(keys.subarray(32), keys.subarray(0, 32)) }
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

  #seal(plain: Uint8Array): Buffer {
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce(this.#counter++))
    cipher.setAAD(this.#hash)
    const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
    this.#authenticate(sealed)
    return sealed
  }

  #open(sealed: Uint8Array): Buffer {
    const cipher = createDecipheriv('aes-256-gcm', this.#key, nonce(this.#counter++))
    cipher.setAAD(this.#hash)
    cipher.setAuthTag(sealed.subarray(-16))
    const plain = Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()])
    this.#authenticate(sealed)
    return plain
  }
}

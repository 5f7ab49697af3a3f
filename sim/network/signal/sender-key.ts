// Sender keys: an author announces one chain per group and then encrypts each message once for all members.
import type { SeededRandom } from '../seeded-random.ts'
import { KeyPair, verifySignature } from './curve.ts'
import { ObjectMemo } from './memo.ts'
import { Chain, decryptCbc, derive, encryptCbc } from './primitives.ts'
import { Fields, writeFields } from './protobuf.ts'

const VERSION = Buffer.from([0x33])

function messageKeys(seed: Buffer): { iv: Buffer; key: Buffer } {
  const keys = derive(seed, Buffer.alloc(32), 'WhisperGroup', 48)
  return { iv: keys.subarray(0, 16), key: keys.subarray(16, 48) }
}

export class OwnSenderKey {
  readonly id: number
  readonly #chain: Chain
  readonly #signing: KeyPair

  constructor(random: SeededRandom) {
    this.id = random.below(2 ** 31)
    this.#chain = new Chain(random.bytes(32))
    this.#signing = new KeyPair(random.bytes(32))
  }

  /** The announcement with which a member can decrypt all later messages. */
  distribution(): Buffer {
    const fields = writeFields([
      [1, this.id],
      [2, this.#chain.next],
      [3, this.#chain.key],
      [4, this.#signing.typedPublicKey],
    ])
    return Buffer.concat([VERSION, fields])
  }

  encrypt(plain: Uint8Array): Buffer {
    const { index, key: seed } = this.#chain.step()
    const { iv, key } = messageKeys(seed)
    const fields = writeFields([
      [1, this.id],
      [2, index],
      [3, encryptCbc(key, iv, plain)],
    ])
    const signed = Buffer.concat([VERSION, fields])
    return Buffer.concat([signed, this.#signing.sign(signed)])
  }
}

/** A message that all members of a group open. What they do with equal keys is done once. */
class SealedMessage {
  readonly keyId: number
  readonly index: number
  readonly #signed: Uint8Array
  readonly #signature: Uint8Array
  readonly #sealed: () => Buffer
  #checked: { signingKey: Buffer; isGenuine: boolean } | undefined
  #opened: { seed: Buffer; plain: Buffer } | undefined

  constructor(body: Uint8Array) {
    this.#signed = body.subarray(0, -64)
    this.#signature = body.subarray(-64)
    const fields = new Fields(this.#signed.subarray(1))
    this.keyId = fields.number(1) ?? 0
    this.index = fields.number(2) ?? 0
    this.#sealed = () => fields.bytes(3)
  }

  isSignedWith(signingKey: Buffer): boolean {
    if (this.#checked?.signingKey.equals(signingKey)) return this.#checked.isGenuine
    const isGenuine = verifySignature(signingKey, this.#signed, this.#signature)
    this.#checked = { signingKey, isGenuine }
    return isGenuine
  }

  open(seed: Buffer): Buffer {
    if (this.#opened?.seed.equals(seed)) return this.#opened.plain
    const { iv, key } = messageKeys(seed)
    const plain = decryptCbc(key, iv, this.#sealed())
    this.#opened = { seed, plain }
    return plain
  }
}

const messages = new ObjectMemo<Uint8Array, SealedMessage>()

/** Every key that an author has announced in a group. */
export class KnownSenderKeys {
  readonly #keys = new Map<number, { chain: Chain; signingKey: Buffer }>()

  learn(distribution: Uint8Array): void {
    const fields = new Fields(distribution.subarray(1))
    const id = fields.number(1) ?? 0
    // An author may announce one key again at a later point. The earlier start decrypts more messages.
    if (this.#keys.has(id)) return
    this.#keys.set(id, { chain: new Chain(fields.bytes(3), fields.number(2) ?? 0), signingKey: fields.bytes(4) })
  }

  /** Members that open one and the same object get one and the same result. */
  decrypt(body: Uint8Array): Buffer {
    const message = messages.get(body, () => new SealedMessage(body))
    const known = this.#keys.get(message.keyId)
    if (!known) throw new Error('no sender key for this message')
    if (!message.isSignedWith(known.signingKey)) throw new Error('bad sender key signature')
    return message.open(known.chain.take(message.index))
  }
}

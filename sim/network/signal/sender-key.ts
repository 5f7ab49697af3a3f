// Sender keys: an author announces one chain per group and then encrypts each message once for all members.
import type { SeededRandom } from '../seeded-random.ts'
import { KeyPair, verifySignature } from './curve.ts'
import { Memo } from './memo.ts'
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

const genuine = new Memo<boolean>()
const plain = new Memo<Buffer>()

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

  decrypt(body: Uint8Array): Buffer {
    const signed = body.subarray(0, -64)
    const fields = new Fields(signed.subarray(1))
    const known = this.#keys.get(fields.number(1) ?? 0)
    if (!known) throw new Error('no sender key for this message')
    const isGenuine = genuine.get([known.signingKey, body], () =>
      verifySignature(known.signingKey, signed, body.subarray(-64)),
    )
    if (!isGenuine) throw new Error('bad sender key signature')
    const seed = known.chain.take(fields.number(2) ?? 0)
    return plain.get([seed, body], () => {
      const { iv, key } = messageKeys(seed)
      return decryptCbc(key, iv, fields.bytes(3))
    })
  }
}

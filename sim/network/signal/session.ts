// One Signal session: X3DH agreement, then double ratchet. A failed decryption leaves the session unchanged.
import { timingSafeEqual } from 'node:crypto'
import type { SeededRandom } from '../seeded-random.ts'
import { KeyPair, typed } from './curve.ts'
import { Chain, decryptCbc, derive, encryptCbc, hmac } from './primitives.ts'
import { Fields, writeFields, type Field } from './protobuf.ts'

const VERSION = Buffer.from([0x33])
const NO_SALT = Buffer.alloc(32)

export type KeyBundle = {
  registrationId: number
  identityKey: Buffer
  signedPreKey: { id: number; publicKey: Buffer }
  preKey: { id: number; publicKey: Buffer } | undefined
}
export type Owner = { identity: KeyPair; registrationId: number; random: SeededRandom }
export type Sealed = { type: 'pkmsg' | 'msg'; body: Buffer }

/** The facts in an opening message about the session to open. */
export class OpeningMessage {
  readonly preKeyId: number | undefined
  readonly baseKey: Buffer
  readonly identityKey: Buffer
  readonly message: Buffer

  constructor(body: Uint8Array) {
    const fields = new Fields(body.subarray(1))
    this.preKeyId = fields.number(1)
    this.baseKey = fields.bytes(2)
    this.identityKey = fields.bytes(3)
    this.message = fields.bytes(4)
  }
}

export class Session {
  readonly baseKey: Buffer
  readonly #owner: Owner
  readonly #theirIdentity: Buffer
  readonly #receiving = new Map<string, Chain>()
  #latestRemote: string | undefined
  #root: Buffer
  #ratchet: KeyPair
  #sending: Chain | undefined
  #previousCounter = 0
  #opening: { fields: Field[] } | undefined

  private constructor(owner: Owner, theirIdentity: Buffer, baseKey: Buffer, root: Buffer, ratchet: KeyPair) {
    this.#owner = owner
    this.#theirIdentity = typed(theirIdentity)
    this.baseKey = baseKey
    this.#root = root
    this.#ratchet = ratchet
  }

  static initiate(owner: Owner, bundle: KeyBundle): Session {
    const base = new KeyPair(owner.random.bytes(32))
    const secrets = [
      owner.identity.agree(bundle.signedPreKey.publicKey),
      base.agree(bundle.identityKey),
      base.agree(bundle.signedPreKey.publicKey),
    ]
    if (bundle.preKey) secrets.push(base.agree(bundle.preKey.publicKey))
    const session = new Session(
      owner,
      bundle.identityKey,
      base.typedPublicKey,
      agreedRoot(secrets),
      new KeyPair(owner.random.bytes(32)),
    )
    session.#sending = session.#stepRoot(bundle.signedPreKey.publicKey)
    const fields: Field[] = [
      [5, owner.registrationId],
      [2, base.typedPublicKey],
      [3, owner.identity.typedPublicKey],
      [6, bundle.signedPreKey.id],
    ]
    if (bundle.preKey) fields.push([1, bundle.preKey.id])
    session.#opening = { fields }
    return session
  }

  static respond(owner: Owner, signedPreKey: KeyPair, preKey: KeyPair | undefined, opening: OpeningMessage): Session {
    const secrets = [
      signedPreKey.agree(opening.identityKey),
      owner.identity.agree(opening.baseKey),
      signedPreKey.agree(opening.baseKey),
    ]
    if (preKey) secrets.push(preKey.agree(opening.baseKey))
    return new Session(owner, opening.identityKey, opening.baseKey, agreedRoot(secrets), signedPreKey)
  }

  encrypt(plain: Uint8Array): Sealed {
    if (!this.#sending) throw new Error('this session has not received anything yet, it cannot send')
    const { index, key } = this.#sending.step()
    const keys = derive(key, NO_SALT, 'WhisperMessageKeys', 80)
    const message = writeFields([
      [1, this.#ratchet.typedPublicKey],
      [2, index],
      [3, this.#previousCounter],
      [4, encryptCbc(keys.subarray(0, 32), keys.subarray(64, 80), plain)],
    ])
    const signed = Buffer.concat([VERSION, message])
    const body = Buffer.concat([
      signed,
      this.#mac(keys, signed, this.#owner.identity.typedPublicKey, this.#theirIdentity),
    ])
    if (!this.#opening) return { type: 'msg', body }
    return { type: 'pkmsg', body: Buffer.concat([VERSION, writeFields([...this.#opening.fields, [4, body]])]) }
  }

  decrypt(body: Uint8Array): Buffer {
    const signed = Buffer.from(body.subarray(0, -8))
    const fields = new Fields(signed.subarray(1))
    const remote = fields.bytes(1)
    const known = this.#receiving.get(remote.toString('hex'))
    const stepped = known ? undefined : derive(this.#ratchet.agree(remote), this.#root, 'WhisperRatchet', 64)
    const chain = known?.clone() ?? new Chain(Buffer.from(stepped?.subarray(32) ?? NO_SALT))
    const keys = derive(chain.take(fields.number(2) ?? 0), NO_SALT, 'WhisperMessageKeys', 80)
    const mac = this.#mac(keys, signed, this.#theirIdentity, this.#owner.identity.typedPublicKey)
    if (!timingSafeEqual(mac, body.subarray(-8))) throw new Error('bad MAC')
    const plain = decryptCbc(keys.subarray(0, 32), keys.subarray(64, 80), fields.bytes(4))
    this.#receiving.set(remote.toString('hex'), chain)
    if (stepped) this.#turn(remote, stepped.subarray(0, 32), fields.number(3) ?? 0)
    this.#opening = undefined
    return plain
  }

  /** The other side has a new ratchet key: keeps the missing keys of its old chain and makes a new key of our own. */
  #turn(remote: Buffer, root: Buffer, previousCounter: number): void {
    const old = this.#latestRemote === undefined ? undefined : this.#receiving.get(this.#latestRemote)
    while (old && old.next <= previousCounter && previousCounter - old.next < 2000) {
      const { index, key } = old.step()
      old.skipped.set(index, key)
    }
    this.#latestRemote = remote.toString('hex')
    this.#root = Buffer.from(root)
    this.#previousCounter = Math.max((this.#sending?.next ?? 0) - 1, 0)
    this.#ratchet = new KeyPair(this.#owner.random.bytes(32))
    this.#sending = this.#stepRoot(remote)
  }

  #stepRoot(remote: Buffer): Chain {
    const keys = derive(this.#ratchet.agree(remote), this.#root, 'WhisperRatchet', 64)
    this.#root = keys.subarray(0, 32)
    return new Chain(keys.subarray(32))
  }

  #mac(keys: Buffer, signed: Buffer, sender: Buffer, receiver: Buffer): Buffer {
    return hmac(keys.subarray(32, 64), Buffer.concat([sender, receiver, signed])).subarray(0, 8)
  }
}

function agreedRoot(secrets: Buffer[]): Buffer {
  return derive(Buffer.concat([Buffer.alloc(32, 0xff), ...secrets]), NO_SALT, 'WhisperText', 64).subarray(0, 32)
}

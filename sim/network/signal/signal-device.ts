// A Signal device of a simulated person or phone: its identity, prekeys, sessions and sender keys.
import type { SeededRandom } from '../seeded-random.ts'
import { KeyPair, typed } from './curve.ts'
import { KnownSenderKeys, OwnSenderKey } from './sender-key.ts'
import { OpeningMessage, Session, type KeyBundle, type Sealed } from './session.ts'

/** A bundle with the signature of its signed prekey. */
export type PublishedBundle = KeyBundle & { signature: Buffer }

const MAX_SESSIONS = 40

export class SignalDevice {
  readonly identity: KeyPair
  readonly registrationId: number
  readonly #random: SeededRandom
  readonly #signedPreKey: { id: number; pair: KeyPair; signature: Buffer }
  readonly #preKeys = new Map<number, KeyPair>()
  readonly #sessions = new Map<string, Session[]>()
  readonly #ownSenderKeys = new Map<string, OwnSenderKey>()
  readonly #senderKeys = new Map<string, KnownSenderKeys>()
  #nextPreKey = 1

  constructor(random: SeededRandom, identity = new KeyPair(random.bytes(32))) {
    this.#random = random
    this.identity = identity
    this.registrationId = 1 + random.below(16380)
    const pair = new KeyPair(random.bytes(32))
    this.#signedPreKey = { id: 1, pair, signature: identity.sign(typed(pair.publicKey)) }
  }

  /** Returns a bundle with an unused one-time prekey. */
  publishBundle(): PublishedBundle {
    const id = this.#nextPreKey++
    const preKey = new KeyPair(this.#random.bytes(32))
    this.#preKeys.set(id, preKey)
    return {
      registrationId: this.registrationId,
      identityKey: this.identity.publicKey,
      signedPreKey: { id: this.#signedPreKey.id, publicKey: this.#signedPreKey.pair.publicKey },
      signature: this.#signedPreKey.signature,
      preKey: { id, publicKey: preKey.publicKey },
    }
  }

  hasSession(address: string): boolean {
    return this.#sessions.has(address)
  }

  openSession(address: string, bundle: KeyBundle): void {
    this.#keep(address, Session.initiate(this.#owner, bundle))
  }

  forgetEverything(): void {
    for (const known of [this.#sessions, this.#preKeys, this.#ownSenderKeys, this.#senderKeys]) known.clear()
  }

  forgetSenderKeys(): void {
    this.#senderKeys.clear()
  }

  encrypt(address: string, plain: Uint8Array): Sealed {
    const session = this.#sessions.get(address)?.[0]
    if (!session) throw new Error(`no session with ${address}`)
    return session.encrypt(plain)
  }

  decrypt(address: string, type: string, body: Uint8Array): Buffer {
    if (type === 'pkmsg') return this.#decryptOpening(address, new OpeningMessage(body))
    const errors: unknown[] = []
    for (const session of this.#sessions.get(address) ?? []) {
      try {
        return session.decrypt(body)
      } catch (error) {
        errors.push(error)
      }
    }
    throw new AggregateError(errors, `no session with ${address} opens this message`)
  }

  #decryptOpening(address: string, opening: OpeningMessage): Buffer {
    const known = this.#sessions.get(address)?.find((session) => session.baseKey.equals(opening.baseKey))
    if (known) return known.decrypt(opening.message)
    const preKey = opening.preKeyId === undefined ? undefined : this.#preKeys.get(opening.preKeyId)
    if (opening.preKeyId !== undefined && !preKey) throw new Error(`prekey ${opening.preKeyId} was already used`)
    const session = Session.respond(this.#owner, this.#signedPreKey.pair, preKey, opening)
    const plain = session.decrypt(opening.message)
    this.#keep(address, session)
    if (opening.preKeyId !== undefined) this.#preKeys.delete(opening.preKeyId)
    return plain
  }

  ownSenderKey(group: string): OwnSenderKey {
    const key = this.#ownSenderKeys.get(group) ?? new OwnSenderKey(this.#random)
    this.#ownSenderKeys.set(group, key)
    return key
  }

  /** After a member has left, the next message must use a new sender key that the former member does not have. */
  dropOwnSenderKey(group: string): void {
    this.#ownSenderKeys.delete(group)
  }

  learnSenderKey(group: string, author: string, distribution: Uint8Array): void {
    const name = `${group} ${author}`
    const keys = this.#senderKeys.get(name) ?? new KnownSenderKeys()
    keys.learn(distribution)
    this.#senderKeys.set(name, keys)
  }

  decryptGroup(group: string, author: string, body: Uint8Array): Buffer {
    const keys = this.#senderKeys.get(`${group} ${author}`)
    if (!keys) throw new Error(`no sender key of ${author} in ${group}`)
    return keys.decrypt(body)
  }

  #keep(address: string, session: Session): void {
    this.#sessions.set(address, [session, ...(this.#sessions.get(address) ?? [])].slice(0, MAX_SESSIONS))
  }

  get #owner(): { identity: KeyPair; registrationId: number; random: SeededRandom } {
    return { identity: this.identity, registrationId: this.registrationId, random: this.#random }
  }
}

// A linked client as the server knows it: its keys, its unacknowledged stanzas, and its connection.
import { NO_HISTORY_WISH, type HistoryWish } from '../accounts/history-wish.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { typed, untyped, verifySignature } from '../signal/curve.ts'
import type { PublishedBundle } from '../signal/signal-device.ts'
import type { Connection } from '../wire/connection.ts'
import { SERVER_JID } from '../wire/jid.ts'
import { child, children, requiredBytes, stanza, type Stanza } from '../wire/stanza.ts'
import { Backlog } from './backlog.ts'
import { DeliveryBooks } from './delivery-books.ts'
import { OwedAcks } from './owed-acks.ts'
import type { Device, User } from './user.ts'
import type { SimClock } from '../../shiftable-clock.ts'

export type CompanionKeys = {
  noiseKey: Buffer
  identityKey: Buffer
  registrationId: number
  signedPreKey: { id: number; publicKey: Buffer; signature: Buffer }
  preKeys: { id: number; publicKey: Buffer }[]
}
/** Returns the stanzas to deliver in place of one. A fault drops, repeats, damages or delays the stanza here. */
export type DeliveryFilter = (device: CompanionDevice, node: Stanza) => Stanza[]
export type DeliveryOptions = {
  /** How many stanzas of the backlog one request brings. Without it the client gets as many as it asks for. */
  window?: number
  /** Whether new stanzas overtake a backlog that is not handed over yet. Otherwise they wait behind it. */
  isBacklogOvertaken?: boolean
  /** Whether an acknowledgement with an error removes a message. A status message is never removed by it. */
  nacksSettle?: boolean
}
type Deps = {
  user: User
  id: number
  keys: CompanionKeys
  random: SeededRandom
  clock: SimClock
  filter: DeliveryFilter
  options: DeliveryOptions
}

const LOW_PREKEYS = 5
/** Stanzas that the server does not store: an offline or unavailable client misses them. */
const PASSING = new Set(['chatstate', 'presence'])

export class CompanionDevice implements Device {
  readonly user: User
  readonly id: number
  readonly keys: CompanionKeys
  readonly books: DeliveryBooks
  readonly #backlog: Backlog
  readonly #owedAcks: OwedAcks
  readonly #options: DeliveryOptions
  /** The users, and the groups by their jid, whose typing and presence the client has asked for. */
  readonly subscriptions = new Set<User | string>()
  readonly #filter: DeliveryFilter
  readonly #random: SeededRandom
  connection: Connection | undefined
  /** True once the client is active and has taken the stanzas that waited for it. */
  live = false
  #isAvailable = false
  /** True once the client has said that it is active. */
  isActive = false
  onboarded = false
  historyWish: HistoryWish = NO_HISTORY_WISH
  bundlesHandedOut = 0

  constructor({ user, id, keys, random, clock, filter, options }: Deps) {
    this.user = user
    this.id = id
    this.keys = keys
    this.#random = random
    this.#filter = filter
    this.#options = options
    this.books = new DeliveryBooks({ nacksSettle: options.nacksSettle ?? false })
    this.#backlog = new Backlog({ books: this.books, send: this.#send.bind(this) })
    this.#owedAcks = new OwedAcks(clock, this.books)
  }

  get available(): boolean {
    return this.#isAvailable
  }

  /** The subscriptions of a client end when it goes offline. */
  set available(isAvailable: boolean) {
    this.#isAvailable = isAvailable
    if (!isAvailable) this.subscriptions.clear()
  }

  /** Only a client that is available can subscribe. */
  subscribe(to: User | string): void {
    if (this.#isAvailable) this.subscriptions.add(to)
  }

  get isConnected(): boolean {
    return this.connection?.isOpen ?? false
  }

  takeBundle(): PublishedBundle {
    const preKey = this.keys.preKeys.shift()
    this.bundlesHandedOut += 1
    if (this.keys.preKeys.length === LOW_PREKEYS - 1) this.#askForPreKeys()
    return {
      registrationId: this.keys.registrationId,
      identityKey: this.keys.identityKey,
      signedPreKey: this.keys.signedPreKey,
      signature: this.keys.signedPreKey.signature,
      preKey,
    }
  }

  deliver(node: Stanza): void {
    if (PASSING.has(node.tag)) {
      if (this.available && this.live) this.connection?.send(node)
      return
    }
    for (const one of this.#filter(this, node)) {
      this.books.enter(one)
      if (!this.live && !this.#isOvertaking) continue
      this.#backlog.skip(one)
      this.#send(one)
    }
  }

  /** A client has logged in. It gets nothing before it is active. */
  admit(connection: Connection): void {
    this.connection = connection
    this.live = false
    this.available = false
    this.isActive = false
    this.#backlog.restart()
  }

  /** The client asks for so many stanzas of its backlog. */
  ask(count: number): void {
    this.#backlog.allow(this.#options.window ?? count)
  }

  /** Delivers what the client has asked for. True once, when nothing waits any more. */
  handOverBacklog(): boolean {
    if (this.live || !this.#backlog.handOver()) return false
    this.live = true
    return true
  }

  announceBacklogEnd(): void {
    const count = stanza('offline', { count: String(this.#backlog.count) })
    this.connection?.send(stanza('ib', { from: SERVER_JID }, [count]))
  }

  learnKeys(upload: Stanza): void {
    this.keys.identityKey = untyped(requiredBytes(child(upload, 'identity'), 'identity key'))
    this.keys.registrationId = requiredBytes(child(upload, 'registration'), 'registration id').readUInt32BE(0)
    this.rotateSignedPreKey(child(upload, 'skey'))
    for (const key of children(child(upload, 'list'), 'key')) this.keys.preKeys.push(readPreKey(key))
  }

  rotateSignedPreKey(node: Stanza | undefined): void {
    if (!node) throw new Error('there is no signed prekey')
    const signature = requiredBytes(child(node, 'signature'), 'prekey signature')
    const { id, publicKey } = readPreKey(node)
    // Phones open no session with a prekey that its owner did not sign.
    if (!verifySignature(this.keys.identityKey, typed(publicKey), signature)) throw new Error('a prekey badly signed')
    this.keys.signedPreKey = { id, publicKey, signature }
  }

  get #isOvertaking(): boolean {
    return this.isActive && this.#options.isBacklogOvertaken === true
  }

  #send(node: Stanza): void {
    if (!this.connection) return
    this.connection.send(node)
    this.#owedAcks.watch(this.connection, node)
  }

  #askForPreKeys(): void {
    const count = stanza('count', { value: String(this.keys.preKeys.length) })
    const attributes = { from: SERVER_JID, type: 'encrypt', id: this.#random.hex(8), t: '0' }
    this.deliver(stanza('notification', attributes, [count]))
  }
}

export function readPreKey(node: Stanza): { id: number; publicKey: Buffer } {
  const id = requiredBytes(child(node, 'id'), 'prekey id')
  return { id: id.readUIntBE(0, id.length), publicKey: untyped(requiredBytes(child(node, 'value'), 'prekey')) }
}

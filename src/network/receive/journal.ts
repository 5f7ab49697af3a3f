// The journal of what arrives: an event is in the inbox from the moment the keys that opened it are on disk.
//
// The network delivers again whatever it believes unreceived, and a key opens once: so the name of every opened envelope is
// stored too. A redelivery, or a notice that was stored before, is confirmed and otherwise ignored.

import { createHash } from 'node:crypto'
import type { Person } from '../../core/address.ts'
import type { NetworkEvent } from '../../core/message.ts'
import type { Reception } from '../../core/network.ts'
import type { Clock } from '../../lib/clock.ts'
import type { JournalStore, UnfinishedStanza } from '../../storage/stores/messages/journal-store.ts'
import type { Account } from '../account/account.ts'
import { ArrivalOrder } from './arrival-order.ts'
import { completePeople } from '../decode/complete-people.ts'
import { cleaned } from '../decode/clean.ts'
import { decodeEvent } from '../decode/event.ts'
import { originOf } from '../decode/origin.ts'
import type { Origin } from '../decode/origin.ts'
import { readEnvelope } from '../decode/opened-message.ts'
import type { OpenedMessage } from '../decode/opened-message.ts'
import type { Opening } from '../account/durable-signal.ts'
import type { ConnectionKeys } from '../account/connection-keys.ts'
import type { StepAddition } from '../account/key-writer.ts'
import { runOutside } from '../connection/fault-isolation.ts'
import { phoneMessageOf } from './phone-messages.ts'
import type { BinaryNode } from '../library/library.ts'
import { resentEvents } from '../decode/resent.ts'

export type JournalDeps = {
  account: Account
  instance: string
  store: JournalStore
  reception: Partial<Reception>
  nextId: () => string
  clock: Clock
  /** Only for tests, which show what it is good for: off, events are stored after the network was told. */
  isOff?: boolean
}
type Deps = JournalDeps & {
  connectionKeys: ConnectionKeys
  own: () => Person
  onBusiness: (business: UnfinishedStanza) => void
}

type Entry = { envelope: string; events: readonly NetworkEvent[]; business?: UnfinishedStanza | undefined }

/** Padding alone, which is an empty message: the library confirms it and has nothing to do. */
const nothing = Buffer.from([1])

const behindEarlier: StepAddition = { statements: [], onSaved: () => undefined }

export class Journal {
  readonly #deps: Deps
  /** The stanza that a ciphertext came in: the library hands on the ciphertext alone. */
  readonly #stanzas = new WeakMap<Uint8Array, BinaryNode>()
  readonly #order: ArrivalOrder
  /** Of the step under way. */
  #opening: string | undefined

  constructor(deps: Deps) {
    this.#deps = deps
    this.#order = new ArrivalOrder(deps.clock)
  }

  /** Before the library sees the stanza, whose sealed parts it will open. A promise when it has to wait for its turn. */
  announce(stanza: BinaryNode, ciphertexts: readonly Uint8Array[]): Promise<void> | undefined {
    const isBacklog = stanza.attrs['offline'] !== undefined
    for (const ciphertext of ciphertexts) this.#stanzas.set(ciphertext, stanza)
    const backlog = !isBacklog && this.#order.isBehind ? this.#order.afterEarlier() : undefined
    const before = this.#order.expect(stanza.attrs['from'] ?? '', ciphertexts, isBacklog)
    // What waited on the server is opened one by one anyway.
    if (isBacklog) return undefined
    return backlog && before ? backlog.then(() => before) : (backlog ?? before)
  }

  /** Runs the Signal step that opens a ciphertext; when it fails, the service will remember that it did. */
  async guard<Result>(ciphertext: Uint8Array, step: () => Promise<Result>): Promise<Result> {
    try {
      return await step()
    } catch (fault) {
      await this.#failed(ciphertext, fault)
      throw fault
    } finally {
      this.#order.done(ciphertext)
    }
  }

  /** Part of a Signal step. What the library gets to see is empty: the content is stored, with the step. */
  async store({ ciphertext, decrypt, learnSenderKey }: Opening): Promise<Uint8Array> {
    const envelope = nameOf(ciphertext)
    const isKnown = this.#deps.account.opened.has(envelope)
    const padded = isKnown ? undefined : await this.#attempt(envelope, decrypt)
    if (!padded) {
      this.#repeated()
      return nothing
    }
    const stanza = this.#stanzas.get(ciphertext)
    if (!stanza) return padded
    const { senderKey, ...opened } = readEnvelope(padded)
    // The library would do it in a step of its own, which a crash could separate from this one.
    if (senderKey) await learnSenderKey(stanza.attrs['participant'] ?? stanza.attrs['from'] ?? '', senderKey)
    const entry = await this.#entryFor(envelope, stanza, opened)
    if (this.#deps.isOff) this.#storeLater(entry)
    else this.#ride(entry)
    return nothing
  }

  /** Undefined when it was opened before: a key opens once, so it fails then, and nothing of the attempt counts. */
  async #attempt(envelope: string, decrypt: () => Promise<Uint8Array>): Promise<Uint8Array | undefined> {
    this.#opening = envelope
    try {
      return await decrypt()
    } catch (fault) {
      if (!(await this.#isKnown(envelope))) throw fault
      this.#deps.connectionKeys.discardStep()
      return undefined
    } finally {
      this.#opening = undefined
    }
  }

  /** Part of a Signal step: a first message whose session was removed in between would open twice. */
  async beforeNewSession(): Promise<void> {
    if (this.#opening !== undefined && (await this.#isKnown(this.#opening))) throw new Error('opened before')
  }

  /** About when the library's own event would have told of it, which it holds back for a while. */
  #storeLater(entry: Entry): void {
    const { account, clock } = this.#deps
    account.opened.set(entry.envelope, true)
    clock.after(100, () => void account.keys.store(this.#rider(entry)).catch(() => undefined))
  }

  async #failed(ciphertext: Uint8Array, fault: unknown): Promise<void> {
    const stanza = this.#stanzas.get(ciphertext)
    if (!stanza || stanza.attrs['category'] === 'peer') return
    const origin = this.originOf(stanza)
    if (!origin) return
    const reason = fault instanceof Error ? fault.message : 'unknown'
    await this.#keep(messageName('undecryptable', origin), { ...origin.envelope, kind: 'undecryptable', reason })
  }

  /** Stores an event under a name, once, behind what arrived before it; resolves when it is stored. */
  async storeNotice(name: string, event: NetworkEvent): Promise<void> {
    await this.#order.afterEarlier()
    await this.#keep(name, event)
  }

  async #keep(name: string, event: NetworkEvent): Promise<void> {
    const { connectionKeys } = this.#deps
    const envelope = nameOf(name)
    await connectionKeys.runStep(async () => {
      if (await this.#isKnown(envelope)) {
        this.#repeated()
        return
      }
      await completePeople([event], connectionKeys.getInStep)
      this.#ride({ envelope, events: [event] })
    })
  }

  /** Undefined for what belongs to no chat. */
  originOf(stanza: BinaryNode): Origin | undefined {
    return originOf(stanza, { own: this.#deps.own(), now: () => this.#deps.clock.now() })
  }

  async #entryFor(envelope: string, stanza: BinaryNode, opened: Omit<OpenedMessage, 'senderKey'>): Promise<Entry> {
    const { reception, instance, own, connectionKeys } = this.#deps
    const origin = this.originOf(stanza)
    if (!origin) {
      reception.onPassedOver?.(instance, 'no chat')
      return { envelope, events: [] }
    }
    const { message } = opened
    const business = message && phoneMessageOf(message, origin)
    const events: NetworkEvent[] = []
    if (business) events.push(...resentEvents(message, own()))
    else {
      const decoded = decodeEvent(opened, { origin, own: own() })
      if (decoded && 'event' in decoded) events.push(decoded.event)
      else if (decoded) reception.onPassedOver?.(instance, decoded.passedOver)
    }
    await completePeople(events, connectionKeys.getInStep)
    return { envelope, events, business }
  }

  #ride(entry: Entry): void {
    const { connectionKeys, account } = this.#deps
    connectionKeys.addToStep(this.#rider(entry))
    // Not before: a connection that has ended takes nothing, and it will come again.
    account.opened.set(entry.envelope, true)
  }

  #rider({ envelope, events, business }: Entry): StepAddition {
    const { account, instance, store, reception, nextId, clock, onBusiness } = this.#deps
    const { sessionId } = account
    const receivedAt = clock.now()
    const rows = events.map((event) => ({ id: nextId(), event: cleaned(event), receivedAt }))
    const statements = [store.opened(sessionId, envelope, receivedAt)]
    for (const row of rows) statements.push(store.inbox({ ...row, instance }))
    if (business) statements.push(store.unfinished(sessionId, business, receivedAt))
    const onSaved = () => {
      if (rows.length > 0) runOutside(() => reception.onReceived?.(instance, rows))
      if (business) onBusiness(business)
    }
    return { statements, onSaved }
  }

  /** Part of a step: what was received before may not be stored yet, and must be before this is confirmed. */
  #repeated(): void {
    this.#deps.connectionKeys.addToStep(behindEarlier)
    const { reception, instance } = this.#deps
    runOutside(() => reception.onRepeated?.(instance))
  }

  /** Stored, or on its way to storage. */
  async #isKnown(envelope: string): Promise<boolean> {
    const { account, store } = this.#deps
    if (account.opened.has(envelope)) return true
    return account.keys.waitOut(() => store.wasOpened(account.sessionId, envelope))
  }
}

export function messageName(about: string, { chatJid, participant, envelope }: Origin): string {
  return [about, chatJid, participant ?? '', envelope.id].join('|')
}

function nameOf(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 22)
}

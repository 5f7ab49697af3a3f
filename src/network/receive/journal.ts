// The journal makes receiving durable: a message is in the inbox from the moment its key has moved on.
//
// The problem: a key decrypts a message only once. If the process dies after the key was stored and before the message was
// stored, the network delivers the message again, but it cannot be decrypted any more. The message is lost.
//
// The trick:
// 1. The library decrypts a message inside a Signal step, which is a transaction over the keys (account/account-keys.ts).
// 2. Inside that step the journal decodes the content and adds the inbox row to the step.
// 3. The inbox row and the ratchet step are stored in the same commit: both of them, or neither.
// 4. The library is handed an empty message. All it does with that is to confirm the message to the network. An ordinary message
//    is not handed to the library: direct-messages.ts confirms it.
// 5. The library gets it only after the commit, so the network is told only what is stored. The bridge is told as well.
// 6. The same commit stores a fingerprint of the ciphertext. When the network delivers the message again, the journal finds
//    the fingerprint: the message is confirmed and otherwise ignored.

import type { Person } from '../../core/address.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { NetworkEvent } from '../../core/message.ts'
import type { Reception } from '../../core/network/reception.ts'
import type { Clock } from '../../lib/clock.ts'
import { completePeople } from '../account/complete-people.ts'
import type { ConnectionKeys } from '../account/connection-keys.ts'
import type { Opening } from '../account/durable-signal.ts'
import { decodeEvent, peopleIn } from '../decode/event.ts'
import { readOpenedMessage } from '../decode/opened-message.ts'
import type { OpenedMessage } from '../decode/opened-message.ts'
import { chatNameOf, originOf } from '../decode/origin.ts'
import type { Origin } from '../decode/origin.ts'
import { resentEvents } from '../decode/resent.ts'
import type { BinaryNode } from '../library/library.ts'
import { ArrivalOrder } from './arrival-order.ts'
import { fingerprintOf } from './journal-entries.ts'
import type { JournalEntries, JournalEntry } from './journal-entries.ts'
import { phoneMessageOf } from './phone-messages.ts'

type Deps = {
  entries: JournalEntries
  connectionKeys: ConnectionKeys
  instance: InstanceName
  reception: Partial<Reception>
  /** The account's own addresses. */
  own: () => Person
  clock: Clock
  /** Whether a question to storage has had no answer for a while. */
  isStorageAway: () => boolean
  /** Aborts when the connection ends. */
  gone: AbortSignal
  /** Only for tests, which show the loss without the journal: events are stored after the network was told. */
  isOff: boolean
}

/** One byte of padding is an empty message. The library confirms it and has nothing else to do. */
const emptyMessage = Buffer.from([1])

export class Journal {
  readonly #deps: Deps
  /** The stanza of each ciphertext. The library hands the ciphertext alone to the Signal step. */
  readonly #stanzas = new WeakMap<Uint8Array, BinaryNode>()
  readonly #order: ArrivalOrder
  /** How many notices of the backlog are being stored. */
  #noticesOfBacklog = 0
  /** The fingerprint that the current step decrypts. */
  #decrypting: string | undefined

  constructor(deps: Deps) {
    this.#deps = deps
    this.#order = new ArrivalOrder(deps)
  }

  /** How many stanzas of the backlog have come and are not stored yet. */
  get unstoredBacklog(): number {
    return this.#order.unopenedBacklog + this.#noticesOfBacklog
  }

  /** The server delivers the backlog from now on. Live messages wait for its end. */
  backlogBegins(): void {
    this.#order.backlogBegins()
  }

  backlogEnds(): void {
    this.#order.backlogEnds()
  }

  /** To be called before the library sees a stanza with ciphertexts. Returns a promise if the library must wait. */
  announce(stanza: BinaryNode, ciphertexts: readonly Uint8Array[]): Promise<void> | undefined {
    const isBacklog = isOfBacklog(stanza)
    for (const ciphertext of ciphertexts) this.#stanzas.set(ciphertext, stanza)
    const backlog = !isBacklog && this.#order.isBehind ? this.#order.afterEarlier() : undefined
    const before = this.#order.expect(chatNameOf(stanza), ciphertexts, isBacklog)
    return backlog && before ? backlog.then(() => before) : (backlog ?? before)
  }

  /** Runs the Signal step that decrypts a ciphertext. If the step fails, an `undecryptable` event is stored. */
  async guard<Result>(ciphertext: Uint8Array, step: () => Promise<Result>): Promise<Result> {
    try {
      return await step()
    } catch (fault) {
      await this.#storeFailure(ciphertext, fault)
      throw fault
    } finally {
      this.#order.done(ciphertext)
    }
  }

  /** To be called when a ciphertext was opened without a guard. */
  opened(ciphertext: Uint8Array): void {
    this.#order.done(ciphertext)
  }

  /** Runs inside a Signal step: decrypts, decodes and stores the content with the step. The library gets an empty message. */
  async store({ ciphertext, decrypt, learnSenderKey }: Opening): Promise<Uint8Array> {
    const { entries, isOff } = this.#deps
    const fingerprint = fingerprintOf(ciphertext)
    const padded = entries.isRecent(fingerprint) ? undefined : await this.#decryptOnce(fingerprint, decrypt)
    if (!padded) {
      entries.noteRepeat()
      return emptyMessage
    }
    const stanza = this.#stanzas.get(ciphertext)
    if (!stanza) return padded
    const { senderKey, ...opened } = readOpenedMessage(padded)
    // The library would learn the key in a step of its own, and a crash could separate the two steps.
    if (senderKey) await learnSenderKey(stanza.attrs['participant'] ?? stanza.attrs['from'] ?? '', senderKey)
    const entry = await this.#entryFor(fingerprint, stanza, opened)
    if (isOff) entries.storeLater(entry)
    else entries.addToStep(entry)
    return emptyMessage
  }

  /** Undefined when the message was opened before. Its key is used up then, and the failed attempt must change nothing. */
  async #decryptOnce(fingerprint: string, decrypt: () => Promise<Uint8Array>): Promise<Uint8Array | undefined> {
    const { entries, connectionKeys } = this.#deps
    this.#decrypting = fingerprint
    try {
      return await decrypt()
    } catch (fault) {
      if (!(await entries.isKnown(fingerprint))) throw fault
      connectionKeys.account.discardStep()
      return undefined
    } finally {
      this.#decrypting = undefined
    }
  }

  /** Runs inside a Signal step. A first message whose session was deleted meanwhile could otherwise be opened twice. */
  async beforeNewSession(): Promise<void> {
    const isRepeat = this.#decrypting !== undefined && (await this.#deps.entries.isKnown(this.#decrypting))
    if (isRepeat) throw new Error('opened before')
  }

  /**
   * Stores an event under a name, once, after the messages that arrived before it. Resolves when it is stored. `also` adds
   * changes of keys to the same step.
   */
  async storeNotice(name: string, event: NetworkEvent, stanza: BinaryNode, also?: () => Promise<void>): Promise<void> {
    if (!isOfBacklog(stanza)) {
      await this.#order.afterEarlier()
      await this.#storeOnce(name, event, also)
      return
    }
    this.#noticesOfBacklog++
    try {
      await this.#order.afterEarlierBacklog()
      await this.#storeOnce(name, event, also)
    } finally {
      this.#noticesOfBacklog--
    }
  }

  /** Undefined for stanzas that belong to no chat. */
  originOf(stanza: BinaryNode): Origin | undefined {
    return originOf(stanza, { own: this.#deps.own(), now: () => this.#deps.clock.now() })
  }

  async #storeFailure(ciphertext: Uint8Array, fault: unknown): Promise<void> {
    const stanza = this.#stanzas.get(ciphertext)
    if (!stanza || stanza.attrs['category'] === 'peer') return
    const origin = this.originOf(stanza)
    if (!origin) return
    const reason = fault instanceof Error ? fault.message : 'unknown'
    await this.#storeOnce(noticeName('undecryptable', origin), { ...origin.envelope, kind: 'undecryptable', reason })
  }

  async #storeOnce(name: string, event: NetworkEvent, also?: () => Promise<void>): Promise<void> {
    const { connectionKeys, entries } = this.#deps
    const fingerprint = fingerprintOf(name)
    await connectionKeys.runStep(async () => {
      if (await entries.isKnown(fingerprint)) {
        entries.noteRepeat()
        return
      }
      await this.#complete([event])
      await also?.()
      entries.addToStep({ fingerprint, events: [event] })
    })
  }

  async #entryFor(
    fingerprint: string,
    stanza: BinaryNode,
    opened: Omit<OpenedMessage, 'senderKey'>,
  ): Promise<JournalEntry> {
    const { reception, instance, own } = this.#deps
    const origin = this.originOf(stanza)
    if (!origin) {
      reception.onPassedOver?.(instance, 'no chat')
      return { fingerprint, events: [] }
    }
    const { message } = opened
    const phoneMessage = message && phoneMessageOf(message, origin)
    if (phoneMessage) {
      const events = resentEvents(message, own())
      await this.#complete(events)
      return { fingerprint, events, phoneMessage }
    }
    const decoded = decodeEvent(opened, { origin, own: own() })
    if (decoded && 'passedOver' in decoded) reception.onPassedOver?.(instance, decoded.passedOver)
    if (!decoded || !('event' in decoded)) return { fingerprint, events: [] }
    const { event, timer } = decoded
    await this.#complete([event])
    return { fingerprint, events: await this.#deps.entries.withTimerChange(event, timer) }
  }

  #complete(events: readonly NetworkEvent[]): Promise<void> {
    return completePeople(events.flatMap(peopleIn), (kind, ids) =>
      this.#deps.connectionKeys.account.getInStep(kind, ids),
    )
  }
}

/** Whether the stanza waited on the server. */
function isOfBacklog({ attrs }: BinaryNode): boolean {
  return attrs['offline'] !== undefined
}

/** The name of a notice about a message, which is stored once. */
export function noticeName(about: string, { chatJid, participant, envelope }: Origin): string {
  return [about, chatJid, participant ?? '', envelope.id].join('|')
}

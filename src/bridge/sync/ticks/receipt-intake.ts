// Takes receipts from the network and stores what they report. The network is told of a receipt only after that.
//
// Receipts are collected for a moment and stored together, so that a burst costs one commit. An entry is one message id of a
// receipt. Its states:
// - collected: the entry waits for the next batch.
// - waiting: the message of the entry is not mapped, or not posted yet. The entry is collected again after a pause. It ends
//   after 60 s, or when the instance has too many entries that wait. What it says of a message that is not posted is stored.
// - ended: the effect is stored, or the receipt has none. The receipt is confirmed when all of its entries have ended.
// When the connection ends, its entries are dropped and not counted: the network tells of the receipts again.

import { groupChatId } from '../../../core/address.ts'
import type { ChatId, DestinationKey, InstanceName, RowId } from '../../../core/ids.ts'
import type { PerInstance } from '../../../core/per-instance.ts'
import type { Receipt } from '../../../core/realtime.ts'
import { isHigher } from '../../../core/tick.ts'
import type { Tick } from '../../../core/tick.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import { KeyedLimits } from '../../../lib/queues/keyed-limits.ts'
import type { SentMessageStore } from '../../../storage/stores/messages/sent-message-store.ts'
import type { ReceiptTarget, TickStore } from '../../../storage/stores/messages/tick-store.ts'
import type { People } from '../../people/people.ts'
import type { OwnRead } from './own-reads.ts'
import { effectOf } from './receipt-effect.ts'
import type { ReceiptSettings } from './receipt-effect.ts'
import { entriesOf, isOpen } from './receipt-entry.ts'
import type { ReceiptEntry } from './receipt-entry.ts'
import { matchReceipt } from './receipt-match.ts'
import type { Match } from './receipt-match.ts'
import type { ReceiptResult, TickCounts } from './tick-counts.ts'
import { WaitingReceipts } from './waiting-receipts.ts'

type Deps = {
  settings: ReceiptSettings
  store: Pick<TickStore, 'find' | 'report'>
  sent: Pick<SentMessageStore, 'isKnown'>
  people: Pick<People, 'lookUp'>
  counts: Pick<TickCounts, 'count' | 'expect' | 'repeated'>
  markSeen: (read: OwnRead) => Promise<ReceiptResult>
  /** Something has become due for the helpdesk. */
  onReported: () => void
  clock: Clock
  log: Log
}

type Found = { entry: ReceiptEntry; row: ReceiptTarget }

const collectMs = 50
const storageAwayMs = 1000
// A phone that was offline can tell of many chats at once.
const seenPerDestination = 4

export class ReceiptIntake implements PerInstance {
  readonly #deps: Deps
  readonly #waiting: WaitingReceipts
  #collected: ReceiptEntry[] = []
  /** The entries that are being stored. */
  #batch: readonly ReceiptEntry[] = []
  readonly #seenLimits = new KeyedLimits<DestinationKey>(seenPerDestination)
  #cancelNext: (() => void) | undefined
  #isWorking = false
  #isStopped = false

  constructor(deps: Deps) {
    this.#deps = deps
    this.#waiting = new WaitingReceipts({
      clock: deps.clock,
      onDue: (entries) => {
        this.#collect(entries)
      },
      onGivenUp: (entry) => void this.#giveUp(entry),
    })
  }

  /** Resolves when the effect of the receipts is stored. Undefined when there is nothing to store. */
  accept(instance: InstanceName, receipts: readonly Receipt[], gone: AbortSignal): Promise<void> | undefined {
    const { settings, counts, clock } = this.#deps
    const judged = receipts.map((receipt) => ({ receipt, effect: effectOf(receipt.type, settings) }))
    for (const { receipt, effect } of judged) {
      if (effect === 'filtered') counts.count(instance, 'filtered', receipt.ids.length)
    }
    const { entries, ended } = entriesOf(judged, { instance, since: clock.monotonic(), gone })
    if (entries.length === 0) return undefined
    this.#collect(entries)
    return ended
  }

  leave(instance: InstanceName): void {
    for (const entry of [...this.#collected, ...this.#batch]) if (entry.instance === instance) entry.isEnded = true
    this.#waiting.forget(instance)
  }

  [Symbol.dispose](): void {
    this.#isStopped = true
    this.#cancelNext?.()
    this.#waiting[Symbol.dispose]()
  }

  #collect(entries: readonly ReceiptEntry[]): void {
    this.#collected.push(...entries)
    this.#schedule(collectMs)
  }

  #schedule(ms: number): void {
    if (this.#isStopped || this.#isWorking || this.#cancelNext || this.#collected.length === 0) return
    this.#cancelNext = this.#deps.clock.after(ms, () => {
      this.#cancelNext = undefined
      void this.#work()
    })
  }

  async #work(): Promise<void> {
    const collected = this.#collected
    this.#collected = []
    for (const entry of collected) if (!isOpen(entry)) this.#waiting.drop(entry)
    this.#batch = collected.filter(isOpen)
    this.#isWorking = true
    const groups = [...Map.groupBy(this.#batch, (entry) => entry.instance)]
    const left = await Promise.all(groups.map(([instance, group]) => this.#tryHandle(instance, group)))
    this.#collected.push(...left.flat())
    this.#batch = []
    this.#isWorking = false
    this.#schedule(left.some((group) => group.length > 0) ? storageAwayMs : collectMs)
  }

  /** Returns the entries that could not be stored yet. They delay no other instance. */
  async #tryHandle(instance: InstanceName, group: readonly ReceiptEntry[]): Promise<readonly ReceiptEntry[]> {
    try {
      await this.#handle(instance, group)
      return []
    } catch (err) {
      this.#deps.log.warn({ err, instance }, 'receipts could not be stored yet')
      return group
    }
  }

  async #handle(instance: InstanceName, group: readonly ReceiptEntry[]): Promise<void> {
    const found: Found[] = []
    const rest: { entry: ReceiptEntry; kind: Exclude<Match['kind'], 'message'> }[] = []
    const rows = await this.#deps.store.find(instance, [...new Set(group.map(({ id }) => id))])
    const byId = Map.groupBy(rows, ({ networkId }) => networkId)
    for (const entry of group) {
      const match = await matchReceipt(entry, byId.get(entry.id) ?? [], () => this.#chatOf(entry))
      if (match.kind === 'message') found.push({ entry, row: match.row })
      else rest.push({ entry, kind: match.kind })
    }
    await this.#report(instance, found)
    for (const { entry, kind } of rest) {
      if (kind === 'filtered') this.#end(entry, kind)
      else this.#waiting.add(entry)
    }
  }

  /** One commit for all. */
  async #report(instance: InstanceName, found: readonly Found[]): Promise<void> {
    const { store, counts, clock, onReported } = this.#deps
    const raised = (tick: Tick) =>
      found.flatMap(({ entry, row }) => (entry.effect === tick && isRaised(entry, row) ? row.id : []))
    const [delivered, read] = [raised('delivered'), raised('read')]
    const hasNews = delivered.length > 0 || read.length > 0
    if (hasNews) await store.report(instance, { delivered: unique(delivered), read: unique(read) }, clock.now())
    for (const { entry, row } of found) {
      if (entry.effect === 'seen' || !isOpen(entry)) continue
      if (isRaised(entry, row)) counts.expect(entry.instance, row.id)
      else counts.repeated(entry.instance, row.id)
      this.#end(entry)
    }
    if (hasNews) onReported()
    this.#markSeen(found.filter(({ entry }) => entry.effect === 'seen'))
  }

  /** One request for each conversation. */
  #markSeen(found: readonly Found[]): void {
    const nameOf = ({ entry, row }: Found) => `${entry.instance}|${row.destination}|${row.conversationId}`
    for (const group of Map.groupBy(found, nameOf).values()) void this.#markConversation(group)
  }

  async #markConversation(group: readonly Found[]): Promise<void> {
    const [first] = group
    if (!first) return
    const { entry, row } = first
    const { markSeen, log } = this.#deps
    const newest = group.reduce((high, { row: { id } }) => (id > high ? id : high), '')
    const read = { instance: entry.instance, destination: row.destination, newest }
    try {
      const mark = () => markSeen({ ...read, conversationId: row.conversationId ?? 0 })
      const result = await this.#seenLimits.run(row.destination, entry.gone, mark)
      for (const one of group) this.#end(one.entry, result)
    } catch (err) {
      if (!entry.gone.aborted) log.warn({ err }, 'a chat that was read on the phone could not be looked up yet')
      for (const one of group) this.#waiting.add(one.entry)
    }
  }

  async #giveUp(entry: ReceiptEntry): Promise<void> {
    const { sent, log } = this.#deps
    try {
      await this.#reportForLater(entry)
      const chatId = await this.#chatOf(entry)
      const isKnown = chatId !== undefined && (await sent.isKnown(entry.instance, chatId))
      this.#end(entry, isKnown ? 'no_conv' : 'no_contact')
    } catch (err) {
      log.warn({ err }, 'a receipt that has waited could not be stored yet')
      this.#collected.push(entry)
      this.#schedule(storageAwayMs)
    }
  }

  /** The helpdesk is told when it has the message. */
  async #reportForLater(entry: ReceiptEntry): Promise<void> {
    const { store, clock, onReported } = this.#deps
    const { effect, instance, id } = entry
    if (effect === 'seen') return
    const match = await matchReceipt(entry, await store.find(instance, [id]), () => this.#chatOf(entry))
    const rows = match.kind === 'unposted' ? match.rows : match.kind === 'message' ? [match.row] : []
    const raised = rows.filter((row) => isRaised(entry, row)).map((row) => row.id)
    if (raised.length === 0) return
    await store.report(instance, { delivered: [], read: [], [effect]: raised }, clock.now())
    onReported()
  }

  async #chatOf({ instance, chat }: ReceiptEntry): Promise<ChatId | undefined> {
    if (chat.kind === 'group') return groupChatId(chat.id)
    return (await this.#deps.people.lookUp(instance, chat))?.id
  }

  /** Without a result the receipt is counted elsewhere. */
  #end(entry: ReceiptEntry, result?: ReceiptResult): void {
    this.#waiting.drop(entry)
    if (!isOpen(entry)) return
    entry.isEnded = true
    if (result !== undefined) this.#deps.counts.count(entry.instance, result)
    entry.end()
  }
}

function isRaised({ effect }: ReceiptEntry, { reported }: ReceiptTarget): boolean {
  return effect !== 'seen' && isHigher(effect, reported)
}

function unique(ids: readonly RowId[]): RowId[] {
  return [...new Set(ids)]
}

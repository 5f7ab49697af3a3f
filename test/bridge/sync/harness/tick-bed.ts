// The parts that carry receipts, on a real database, with a scripted helpdesk and a clock that stands still.

import type { MessageStatus } from '../../../../src/core/helpdesk/message.ts'
import { noTraces } from '../../../../src/core/trace/traces.ts'
import type { Receipt } from '../../../../src/core/realtime.ts'
import { OwnChanges } from '../../../../src/bridge/conversations/own-changes.ts'
import type { OwnRead } from '../../../../src/bridge/sync/ticks/own-reads.ts'
import { ReceiptIntake } from '../../../../src/bridge/sync/ticks/receipt-intake.ts'
import { TickCounts } from '../../../../src/bridge/sync/ticks/tick-counts.ts'
import type { ReceiptResult } from '../../../../src/bridge/sync/ticks/tick-counts.ts'
import { TickSetter } from '../../../../src/bridge/sync/ticks/tick-setter.ts'
import { TickWorker } from '../../../../src/bridge/sync/ticks/tick-worker.ts'
import type { Database } from '../../../../src/storage/database.ts'
import { newDatabase } from '../../../harness/databases.ts'
import { silentLog } from '../../../harness/logs.ts'
import { ManualClock } from '../../../harness/manual-clock.ts'
import { openStores } from '../../../storage/harness/all-stores.ts'
import type { Stores } from '../../../storage/harness/all-stores.ts'
import { passTime } from '../../harness/pass-time.ts'
import { allDuties } from '../../../harness/duties.ts'

type SetStatus = (conversationId: number, messageId: number, status: MessageStatus) => Promise<void>
type Mapped = { messageId: number; destination?: string; conversationId?: number }

const destination = 'desk'
const bob = { kind: 'person' as const, phone: '5511888880001', lid: null }

export class TickBed {
  readonly clock: ManualClock
  readonly stores: Stores
  readonly intake: ReceiptIntake
  readonly worker: TickWorker
  /** How often each result was counted. */
  readonly counted: Record<string, number> = {}
  /** The statuses that were set, as `6 read`. */
  readonly set: string[] = []
  /** How many commits stored receipts. */
  commits = 0
  failures = 0
  /** How often the worker asked the database what is due. */
  dueReads = 0
  /** Runs before a status is set; throws to refuse it. */
  beforeStatus: SetStatus = () => Promise.resolve()
  /** Runs before receipts are stored; throws to refuse them. */
  beforeCommit: () => Promise<void> = () => Promise.resolve()
  /** The owner has read a conversation on the phone. */
  markSeen: (read: OwnRead) => Promise<ReceiptResult> = () => Promise.resolve('ok')
  readonly #owned: AsyncDisposableStack

  private constructor(stores: Stores, clock: ManualClock, owned: AsyncDisposableStack) {
    this.stores = stores
    this.clock = clock
    const { ticks, sent } = stores
    const counts = new TickCounts({
      counts: {
        count: (_, __, result, times) => {
          this.counted[result] = (this.counted[result] ?? 0) + (times ?? 1)
        },
      },
      onFailed: () => {
        this.failures += 1
      },
      startedAt: clock.now(),
    })
    const done = () => Promise.resolve()
    const changes = new OwnChanges({ clock })
    const helpdesk = { setStatus: this.#setStatus.bind(this), markSeen: done, markUnread: done }
    // An instance is named after its destination.
    const targetOf = (instance: string) => Promise.resolve({ destination: { key: instance }, helpdesk })
    const setter = new TickSetter({ store: ticks, targetOf, changes, counts, traces: noTraces, clock, log: silentLog })
    const start = () => void this.worker.run()
    const dueStore = {
      due: (...query: Parameters<typeof ticks.due>) => {
        this.dueReads += 1
        return ticks.due(...query)
      },
    }
    this.worker = owned.use(
      new TickWorker({ store: dueStore, setter, duties: allDuties, clock, log: silentLog, start }),
    )
    const store = {
      find: ticks.find.bind(ticks),
      report: async (...report: Parameters<typeof ticks.report>) => {
        await this.beforeCommit()
        this.commits += 1
        await ticks.report(...report)
      },
    }
    const onReported = () => {
      this.worker.wake()
    }
    const people = { lookUp: () => Promise.resolve(undefined) }
    const settings = { readReceipts: true, deliveryStatus: true }
    const markSeen = (read: OwnRead) => this.markSeen(read)
    this.intake = owned.use(
      new ReceiptIntake({ settings, store, sent, people, counts, markSeen, onReported, clock, log: silentLog }),
    )
    this.#owned = owned
  }

  static async open(): Promise<TickBed> {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase('sqlite'))
    const stores = await openStores(database)
    return new TickBed(stores, new ManualClock(), stack.move())
  }

  get database(): Database {
    return this.stores.database
  }

  /** A message of an agent that the network has acknowledged. The instance is named after the destination. */
  async map(id: string, { messageId, destination: key = destination, conversationId = 5 }: Mapped): Promise<void> {
    const networkKey = { chat: '5511888880001@s.whatsapp.net', id, fromMe: true, participant: null }
    const place = { instance: key, destination: key, chatId: 'p1', kind: 'message', conversationId, messageId }
    await this.database.write(
      this.stores.sent.insertStep({ id, ...place, networkKey, at: 1000, networkAt: 1000, content: {} }),
    )
  }

  /** A message of the customer, in a conversation of its own. */
  async mapReceived(id: string, conversationId: number): Promise<void> {
    await this.map(id, { messageId: conversationId, conversationId })
    const { query } = this.database
    await this.database.write(query.updateTable('message_map').set({ direction: 'in' }).where('id', '=', id))
  }

  /** The promise that the receipt may be confirmed. */
  receive(
    ids: readonly string[],
    {
      type = 'read',
      instance = destination,
      gone = new AbortController().signal,
    }: { type?: Receipt['type']; instance?: string; gone?: AbortSignal } = {},
  ): { isConfirmed: boolean } {
    const state = { isConfirmed: false }
    const receipt = { type, chat: bob, from: bob, ids, at: 0 }
    const stored = this.intake.accept(instance, [receipt], gone) ?? Promise.resolve()
    void stored.then(() => {
      state.isConfirmed = true
    })
    return state
  }

  pass(ms: number): Promise<void> {
    return passTime(this, ms)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync()
  }

  async #setStatus(conversationId: number, messageId: number, status: MessageStatus): Promise<void> {
    await this.beforeStatus(conversationId, messageId, status)
    this.set.push(`${messageId} ${status}`)
  }
}

// Reads inbox rows that are stored already: many when an instance is taken or parked rows are tried again, single ones when
// their turn comes. Waits for storage that is away. A row that storage cannot read is parked, so that no other row waits for it.

import type { InstanceName, RowId } from '../../core/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { retryUntil } from '../../lib/retry.ts'
import type { InboxRow, InboxStore } from '../../storage/stores/messages/inbox-store.ts'
import { isStorageAway } from './failure-policy.ts'
import type { ParkedRows } from './parked-rows.ts'

type Deps = {
  inbox: Pick<InboxStore, 'pendingIds' | 'load'>
  parked: Pick<ParkedRows, 'park'>
  clock: Clock
  log: Log
}

/** The pending rows of an instance up to this one. */
type StoredRange = { instance: InstanceName; newest: RowId }

/** A page is in memory as a whole, and a text has up to 65,536 characters. */
const pageSize = 100
const pauses = { firstMs: 500, ceilingMs: 30_000 }
/** How often storage may refuse to read a row before the row is parked. */
const maxRefusals = 5

export class StoredRows {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Oldest first; undefined in the place of a row that was parked. Ends early when the signal aborts. */
  async *pending({ instance, newest }: StoredRange, signal: AbortSignal): AsyncGenerator<InboxRow | undefined> {
    for (let after = ''; ;) {
      const from = after
      const read = () => this.#deps.inbox.pendingIds(instance, { after: from, newest }, pageSize)
      const ids = await this.#read(signal, read)
      if (!ids) return
      yield* this.some(instance, ids, signal)
      const last = ids.at(-1)
      if (last === undefined || ids.length < pageSize) return
      after = last
    }
  }

  /** These rows; undefined in the place of a row that is gone or was parked. Ends early when the signal aborts. */
  async *some(
    instance: InstanceName,
    ids: readonly RowId[],
    signal: AbortSignal,
  ): AsyncGenerator<InboxRow | undefined> {
    for (let from = 0; from < ids.length && !signal.aborted; from += pageSize) {
      const page = ids.slice(from, from + pageSize)
      const rows = await this.#page(page, signal)
      if (rows) for (const id of page) yield rows.get(id)
      // One row of the page is the cause.
      else for (const id of page) yield await this.load(instance, id, signal)
    }
  }

  /** Undefined when the row is gone or was parked, or the signal aborts. */
  async load(instance: InstanceName, id: RowId, signal: AbortSignal): Promise<InboxRow | undefined> {
    const { inbox, parked } = this.#deps
    let refusals = 0
    return this.#read(signal, async () => {
      try {
        return (await inbox.load([id])).at(0)
      } catch (error) {
        // An outage says nothing about the row.
        if (isStorageAway(error) || ++refusals < maxRefusals) throw error
        const reason = `the stored message cannot be read: ${error instanceof Error ? error.message : String(error)}`
        await parked.park({ id, instance, kind: 'unreadable' }, reason, signal)
        return undefined
      }
    })
  }

  /** Undefined when storage refuses to read the page, or the signal aborts. */
  #page(ids: readonly RowId[], signal: AbortSignal): Promise<Map<RowId, InboxRow> | undefined> {
    return this.#read(signal, async () => {
      try {
        return new Map((await this.#deps.inbox.load(ids)).map((row) => [row.id, row]))
      } catch (error) {
        if (isStorageAway(error)) throw error
        return undefined
      }
    })
  }

  async #read<T>(signal: AbortSignal, read: () => Promise<T>): Promise<T | undefined> {
    const { clock, log } = this.#deps
    const onFailure = (err: unknown) => {
      if (!signal.aborted) log.error({ err }, 'received messages cannot be read yet')
    }
    return (await retryUntil({ clock, signal, pauses, onFailure }, read))?.value
  }
}

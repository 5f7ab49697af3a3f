// Reads inbox rows that are stored already: all of them when an instance is taken, single ones when their turn comes. Waits
// for storage that is away.

import type { InstanceName, RowId } from '../../core/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { retryUntil } from '../../lib/retry.ts'
import type { InboxRow, InboxStore } from '../../storage/stores/messages/inbox-store.ts'

type Deps = { inbox: Pick<InboxStore, 'pending' | 'load'>; clock: Clock; log: Log }

/** The pending rows of an instance up to this one. */
export type StoredRange = { instance: InstanceName; newest: RowId }

/** A page is in memory as a whole, and a text has up to 65,536 characters. */
const pageSize = 100
const pauses = { firstMs: 500, ceilingMs: 30_000 }

export class StoredRows {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Oldest first. Ends early when the signal aborts. */
  async *pending({ instance, newest }: StoredRange, signal: AbortSignal): AsyncGenerator<InboxRow> {
    for (let after = ''; ;) {
      const from = after
      const rows = await this.#read(signal, (inbox) => inbox.pending(instance, { after: from, newest }, pageSize))
      if (!rows) return
      yield* rows
      const last = rows.at(-1)
      if (!last || rows.length < pageSize) return
      after = last.id
    }
  }

  /** Undefined when the row is gone, or the signal aborts. */
  async load(id: RowId, signal: AbortSignal): Promise<InboxRow | undefined> {
    return (await this.#read(signal, (inbox) => inbox.load([id])))?.at(0)
  }

  async #read(
    signal: AbortSignal,
    read: (inbox: Deps['inbox']) => Promise<InboxRow[]>,
  ): Promise<InboxRow[] | undefined> {
    const { inbox, clock, log } = this.#deps
    const onFailure = (err: unknown) => {
      if (!signal.aborted) log.error({ err }, 'received messages cannot be read yet')
    }
    return (await retryUntil({ clock, signal, pauses, onFailure }, () => read(inbox)))?.value
  }
}

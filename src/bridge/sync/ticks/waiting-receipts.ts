// Keeps receipts whose message is not in the message map yet: the acknowledgement of the message may still be stored, or the
// helpdesk has not taken the message yet. Only so many receipts of an instance wait at a time, and only so long.

import type { InstanceName } from '../../../core/ids.ts'
import type { Clock } from '../../../lib/clock.ts'
import { getOrCreate } from '../../../lib/keyed.ts'
import { isOpen } from './receipt-entry.ts'
import type { ReceiptEntry } from './receipt-entry.ts'

type Deps = {
  clock: Clock
  /** The entries are looked up again. They stay here until they are dropped. */
  onDue: (entries: readonly ReceiptEntry[]) => void
  /** The entry has waited too long, or too many wait. */
  onGivenUp: (entry: ReceiptEntry) => void
}

const longestMs = 60_000
const mostPerInstance = 1000
/** The pauses between the looks at one entry. The last one ends with its time. */
const pausesMs = [250, 750, 2000, 5000, 12_000, 20_000, longestMs]

export class WaitingReceipts {
  readonly #deps: Deps
  /** How often an entry was looked up; oldest entry first. */
  readonly #entries = new Map<InstanceName, Map<ReceiptEntry, number>>()
  readonly #timers = new Set<() => void>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  add(entry: ReceiptEntry): void {
    const { clock, onGivenUp, onDue } = this.#deps
    if (!isOpen(entry)) {
      this.drop(entry)
      return
    }
    const leftMs = longestMs - (clock.monotonic() - entry.since)
    if (leftMs <= 0) {
      onGivenUp(entry)
      return
    }
    const entries = getOrCreate(this.#entries, entry.instance, () => new Map<ReceiptEntry, number>())
    const looks = entries.get(entry) ?? 0
    entries.set(entry, looks + 1)
    const cancel = clock.after(Math.min(leftMs, pausesMs[looks] ?? longestMs), () => {
      this.#timers.delete(cancel)
      if (this.#entries.get(entry.instance)?.has(entry)) onDue([entry])
    })
    this.#timers.add(cancel)
    const [oldest] = entries.keys()
    if (entries.size > mostPerInstance && oldest) {
      this.drop(oldest)
      onGivenUp(oldest)
    }
  }

  drop(entry: ReceiptEntry): void {
    const entries = this.#entries.get(entry.instance)
    if (entries?.delete(entry) && entries.size === 0) this.#entries.delete(entry.instance)
  }

  forget(instance: InstanceName): void {
    for (const entry of this.#entries.get(instance)?.keys() ?? []) entry.isEnded = true
    this.#entries.delete(instance)
  }

  [Symbol.dispose](): void {
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
    this.#entries.clear()
  }
}

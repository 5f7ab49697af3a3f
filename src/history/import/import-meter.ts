// Counts how far a job is, and estimates when it will end.

import type { ImportParams, ImportProgress } from '../../core/jobs/history-jobs.ts'
import type { ChatId } from '../../core/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import { getOrCreate } from '../../lib/keyed.ts'
import type { HistoryOutcome } from '../../storage/schema/history.ts'
import type { OutcomeCounts } from '../../storage/stores/history/history-store.ts'
import type { ImportCounts, ImportTotals } from '../../storage/stores/history/import-store.ts'

type Deps = {
  clock: Pick<Clock, 'now'>
  /** Messages per second that this job can count on. */
  ratePerSec: () => number
  onProgress: (progress: ImportProgress) => void
}

type MessageCounts = Pick<ImportCounts, 'seen' | 'kept' | 'posted' | 'skipped' | 'errors'>

/** `pending` counts the messages that were kept when the job began, and `unasked` the chats that the phone is asked about. */
export type Workload = { pending: number; unasked: number }

export class ImportMeter {
  readonly #deps: Deps
  readonly #perQuestion: number
  #total: number
  #done: number
  #ended: MessageCounts
  readonly #running = new Map<ChatId, MessageCounts>()
  #left: number
  #unasked: number

  constructor(deps: Deps, totals: ImportTotals, { pending, unasked }: Workload, { count }: ImportParams) {
    this.#deps = deps
    this.#perQuestion = count ?? 0
    const { chats, done, seen, kept, posted, skipped, errors } = totals
    this.#total = chats
    this.#done = done
    this.#ended = { seen, kept, posted, skipped, errors }
    this.#left = pending
    this.#unasked = count === null ? 0 : unasked
    this.#tell()
  }

  /** The phone has answered. The chat has these outcomes from before a restart. */
  begin(chat: ChatId, seen: number, before: OutcomeCounts): void {
    this.#unasked = Math.max(0, this.#unasked - 1)
    this.#left += seen
    this.#running.set(chat, messageCounts(seen, before))
    this.#tell()
  }

  /** A message has this outcome. */
  note(chat: ChatId, outcome: HistoryOutcome): void {
    const counts = getOrCreate(this.#running, chat, zero)
    counts.kept++
    counts.seen = Math.max(counts.seen, counts.kept)
    if (outcome === 'posted') counts.posted++
    if (outcome === 'skipped') counts.skipped++
    if (outcome === 'error') counts.errors++
    this.#left = Math.max(0, this.#left - 1)
    this.#tell()
  }

  /** The import of the chat has ended with these counts. */
  end(chat: ChatId, counts: MessageCounts): void {
    this.#running.delete(chat)
    this.#ended = sum(this.#ended, counts)
    this.#done++
    this.#tell()
  }

  #tell(): void {
    const { clock, ratePerSec, onProgress } = this.#deps
    const counts = [...this.#running.values()].reduce(sum, this.#ended)
    const left = this.#left + this.#unasked * this.#perQuestion
    const estimatedEndAt = Math.round(clock.now() + (left / ratePerSec()) * 1000)
    onProgress({ done: this.#done, total: this.#total, ...counts, estimatedEndAt })
  }
}

/** The numbers of a chat: every message that was kept was seen, and the phone may have sent others. */
export function messageCounts(seen: number, outcomes: OutcomeCounts): ImportCounts {
  const { posted, skipped, filtered, error, oldestAt, newestAt } = outcomes
  const kept = posted + skipped + filtered + error
  return { seen: Math.max(seen, kept), kept, posted, skipped, errors: error, oldestAt, newestAt }
}

function zero(): MessageCounts {
  return { seen: 0, kept: 0, posted: 0, skipped: 0, errors: 0 }
}

function sum(one: MessageCounts, other: MessageCounts): MessageCounts {
  return {
    seen: one.seen + other.seen,
    kept: one.kept + other.kept,
    posted: one.posted + other.posted,
    skipped: one.skipped + other.skipped,
    errors: one.errors + other.errors,
  }
}

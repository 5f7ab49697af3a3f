// Gives imported messages their true dates, in the database of the helpdesk. What is due is stored, so it waits while that database
// is away, and a restart goes on where the last process stopped.

import type { HelpdeskDatabase } from '../../core/helpdesk/helpdesk-database.ts'
import { HelpdeskDatabaseError } from '../../core/helpdesk/helpdesk-database.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { DueDate, MessageDateStore } from '../../storage/stores/history/message-date-store.ts'

type Deps = {
  database: Pick<HelpdeskDatabase, 'backdate'>
  /** The installation of the helpdesk whose database it is. */
  installation: string
  store: Pick<MessageDateStore, 'due' | 'settle' | 'prune'>
  clock: Pick<Clock, 'now'>
  log: Log
}

/** How many messages a run corrects. */
const batchSize = 500
/** How long a date waits for the database. Then the message keeps the time of its import. */
const keepMs = 30 * 86_400_000

export class DateWorker {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The database itself logs that it fails, once. The dates then stay for the next run. */
  async run(): Promise<void> {
    const { store, installation, clock, log } = this.#deps
    await store.prune(clock.now() - keepMs)
    const due = await store.due(installation, batchSize)
    const counts = { corrected: 0, missing: 0 }
    try {
      for (const batch of Map.groupBy(due, inboxOf).values()) {
        const { corrected, missing } = await this.#correct(batch)
        counts.corrected += corrected
        counts.missing += missing
      }
    } catch (error) {
      if (!(error instanceof HelpdeskDatabaseError)) throw error
    }
    if (counts.corrected + counts.missing > 0) log.info(counts, 'corrected the dates of imported messages')
  }

  /** All messages are of one helpdesk inbox. */
  async #correct(batch: readonly DueDate[]): Promise<{ corrected: number; missing: number }> {
    const { database, store } = this.#deps
    const [first] = batch
    if (!first) return { corrected: 0, missing: 0 }
    const { corrected, missing } = await database.backdate(first, batch)
    const settled = new Set([...corrected, ...missing])
    const rows = batch.filter(({ messageId }) => settled.has(messageId))
    const held = new Set(lastUnderImport(rows))
    await store.settle({ done: rows.filter((row) => !held.has(row)), held: [...held] })
    return { corrected: corrected.length, missing: missing.length }
  }
}

function inboxOf({ destination, accountId, inboxId }: DueDate): string {
  return `${destination}|${accountId}|${inboxId}`
}

/** The last of these messages in each conversation under import. When the import ends, the times of the conversation change. */
function lastUnderImport(rows: readonly DueDate[]): DueDate[] {
  const last = new Map<number, DueDate>()
  for (const row of rows) {
    const known = last.get(row.conversationId)
    if (row.isImporting && (!known || known.messageId < row.messageId)) last.set(row.conversationId, row)
  }
  return [...last.values()]
}

// The worker of dates on a real PostgreSQL with Chatwoot's tables, and on a clock that the test moves.

import { createSettingsOf } from '../../../src/app/settings-of.ts'
import { createDates } from '../../../src/app/history/create-dates.ts'
import type { DateSet } from '../../../src/app/history/create-dates.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { ChatwootDatabase } from '../../../src/downstream/database/chatwoot-database.ts'
import type { Ticker } from '../../../src/lib/ticker.ts'
import type { Database } from '../../../src/storage/database.ts'
import { ImportMarks } from '../../../src/storage/stores/history/import-marks.ts'
import { createDownstream } from '../../downstream/harness/helpdesk-bed.ts'
import { ChatwootTables } from '../../harness/chatwoot-tables.ts'
import { newDatabase } from '../../harness/databases.ts'
import { RecordedLog } from '../../harness/logs.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { openStores } from '../../storage/harness/all-stores.ts'
import { holds } from '../../harness/holds.ts'

const baseUrl = 'https://desk.example'
const destination = { key: 'desk', baseUrl, apiToken: 'token', accountId: 1, inboxId: 1 }

/** When the messages were written, and when they are imported, in seconds. */
export const past = Date.UTC(2026, 0, 1, 9, 30) / 1000
export const now = Date.UTC(2026, 0, 15, 12) / 1000

export class DateBed {
  readonly conversation = { destination: 'desk', conversationId: 12, instance: 'shop', chat: 'p1' }
  readonly clock = new ManualClock(now * 1000)
  readonly logs = new RecordedLog('info')
  readonly tables: ChatwootTables
  readonly marks: ImportMarks
  readonly #database: Database
  readonly #owned: AsyncDisposableStack
  readonly #set: DateSet

  private constructor(tables: ChatwootTables, database: Database, owned: AsyncDisposableStack) {
    this.tables = tables
    this.marks = new ImportMarks(database)
    this.#database = database
    this.#owned = owned
    const { clock } = this
    const { log } = this.logs
    const config = loadConfig({ DATABASE_URL: 'file:./x.db', DOWNSTREAM_BASE_URL: baseUrl })
    this.#set = createDates(
      { config, clock, log },
      {
        settingsOf: createSettingsOf(config, { find: () => undefined }),
        ...{ database, holds, downstream: owned.use(createDownstream()) },
        helpdeskDatabase: owned.use(new ChatwootDatabase({ url: tables.url, baseUrl, log })),
      },
    )
    owned.use(this.#ticker)
    this.#ticker.start()
  }

  static async open(): Promise<DateBed> {
    await using stack = new AsyncDisposableStack()
    const tables = stack.use(await ChatwootTables.open())
    const { database } = stack.use(await newDatabase('sqlite'))
    await openStores(database)
    return new DateBed(tables, database, stack.move())
  }

  /** Messages were written `id` seconds after `past`, and are posted now. */
  async posted(...ids: readonly number[]): Promise<void> {
    await this.tables.insert(...ids.map((id) => ({ id, source_id: `W${id}`, created_at: now + id })))
    for (const id of ids) await this.queue(id)
  }

  /** The next message is queued a moment later. */
  async queue(id: number, changes: Partial<typeof destination> = {}): Promise<void> {
    const message = { conversationId: 12, messageId: id, sourceId: `W${id}`, at: (past + id) * 1000 }
    const posted = { ...message, destination: { ...destination, ...changes } }
    await this.#database.write(...this.#set.dates.stepsOf(posted))
    this.clock.set(1)
  }

  /** Time passes, and the run that falls due ends. */
  async ticked(ms = 30_000): Promise<void> {
    const before = this.clock.pending
    await this.clock.advance(ms)
    // While a run is under way, no next one is planned.
    if (this.clock.pending < before) await this.#ticker.tick()
    await this.clock.advance(0)
  }

  /** The messages that are still to be corrected. */
  async waiting(): Promise<number[]> {
    const query = this.#database.query.selectFrom('message_dates').select('message_id').where('is_held', 'is', null)
    return (await this.#database.read(query.orderBy('message_id'))).map(({ message_id }) => message_id)
  }

  async held(): Promise<number> {
    const query = this.#database.query.selectFrom('message_dates').select('message_id').where('is_held', '=', 1)
    return (await this.#database.read(query)).length
  }

  /** What the runs counted, by the log. */
  counts(): { corrected: unknown; missing: unknown }[] {
    const lines = this.logs.withMessage('corrected the dates of imported messages')
    return lines.map(({ corrected, missing }) => ({ corrected, missing }))
  }

  warnings(): unknown[] {
    return this.logs.withMessage('the database of the helpdesk does not do what it is asked')
  }

  get failure(): Error | undefined {
    return this.#ticker.failure
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync()
  }

  get #ticker(): Ticker {
    const [ticker] = this.#set.workers
    if (!ticker) throw new Error('there is no worker of dates')
    return ticker
  }
}

// A PostgreSQL database with Chatwoot's tables of messages, attachments and conversations, as far as the service uses them.

import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import { chatwootSchema, documentedRights, messageTypes, statuses, storedAs, typeOf } from './chatwoot-schema.ts'
import { newLocation } from './databases.ts'

export type MessageRow = {
  id: number
  content: string | null
  processed_message_content: string | null
  source_id: string | null
  account_id: number
  inbox_id: number
}

/** Times are in seconds since 1970. */
export type MessageFields = MessageRow & {
  conversation_id: number
  message_type: number
  private: boolean
  status: number
  created_at: number
}
export type ConversationFields = {
  id: number
  account_id: number
  inbox_id: number
  status: number
  created_at: number
  last_activity_at: number
  waiting_since: number | null
  first_reply_created_at: number | null
}

/** Display ids are counted for each account. The ids of the rows are not. */
export function conversationRowId({ accountId, id }: { accountId: number; id: number }): number {
  return accountId * 100_000 + id
}

export class ChatwootTables {
  /** With the rights that the documents name, and no others. The time zone of its sessions is not UTC. */
  readonly url: string
  readonly role: string
  readonly admin: pg.Client
  readonly #owned: AsyncDisposableStack
  /** The conversations of the simulated helpdesk as they were copied last. */
  readonly #copied = new Map<number, ConversationFields>()

  private constructor(url: string, role: string, admin: pg.Client, owned: AsyncDisposableStack) {
    this.url = url
    this.role = role
    this.admin = admin
    this.#owned = owned
  }

  static async open(): Promise<ChatwootTables> {
    await using stack = new AsyncDisposableStack()
    const { url } = stack.use(await newLocation('postgres'))
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    stack.defer(() => admin.end())
    for (const table of chatwootSchema) await admin.query(table)
    const role = `causeway_${randomBytes(6).toString('hex')}`
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
    await admin.query(`ALTER ROLE ${role} SET timezone = 'America/Sao_Paulo'`)
    stack.defer(async () => {
      await admin.query(`DROP OWNED BY ${role}`)
      await admin.query(`DROP ROLE ${role}`)
    })
    for (const right of documentedRights) await admin.query(`GRANT ${right} TO ${role}`)
    const limited = new URL(url)
    limited.username = role
    limited.password = 'secret'
    return new ChatwootTables(limited.href, role, admin, stack.move())
  }

  async insert(...rows: readonly (Partial<MessageFields> & { id: number })[]): Promise<void> {
    const standard = {
      ...{ account_id: 1, inbox_id: 1, conversation_id: 1, message_type: 0, private: false, status: 0 },
      ...{ source_id: null, created_at: Date.now() / 1000 },
    }
    const whole = rows.map(({ content = null, ...row }) => ({
      ...{ ...standard, content, processed_message_content: content, ...row },
    }))
    await this.#insert('messages', whole)
  }

  async insertAttachments(
    ...rows: readonly { id: number; message_id: number; account_id?: number; created_at: number }[]
  ): Promise<void> {
    const whole = rows.map((row) => ({ account_id: 1, ...row }))
    await this.#insert('attachments', whole)
  }

  async insertConversation(row: Partial<ConversationFields> & { id: number; created_at: number }): Promise<void> {
    const standard = { account_id: 1, inbox_id: 1, status: 0, waiting_since: null, first_reply_created_at: null }
    await this.#insert('conversations', [{ ...standard, last_activity_at: row.created_at, ...row }])
  }

  /** Copies what is new in the simulated helpdesk: its messages, and what it changed of its conversations. */
  async follow({ see }: Pick<SimHelpdesk, 'see'>): Promise<void> {
    for (const seen of see.conversations()) {
      const seconds = (ms: number | null) => (ms === null ? null : ms / 1000)
      await this.#copy({
        id: conversationRowId(seen),
        account_id: seen.accountId,
        inbox_id: seen.inboxId,
        status: statuses[seen.status],
        created_at: seen.createdAt / 1000,
        last_activity_at: seen.lastActivityAt / 1000,
        waiting_since: seconds(seen.waitingSince),
        first_reply_created_at: seconds(seen.firstReplyCreatedAt),
      })
    }
    const known = new Set((await this.rows()).map(({ id }) => id))
    const fresh = see.messages().filter(({ id }) => !known.has(id))
    await this.insert(
      ...fresh.map((seen) => ({
        ...{ id: seen.id, content: seen.content, source_id: seen.sourceId, private: seen.private },
        ...{ account_id: seen.accountId, inbox_id: seen.inboxId, created_at: seen.createdAt / 1000 },
        conversation_id: conversationRowId({ accountId: seen.accountId, id: seen.conversationId }),
        message_type: messageTypes[seen.messageType],
      })),
    )
    await this.insertAttachments(
      ...fresh.flatMap(({ id, accountId, createdAt, files }) =>
        files.map((_, n) => ({
          ...{ id: id * 100 + n, message_id: id, account_id: accountId, created_at: createdAt / 1000 },
        })),
      ),
    )
  }

  async rows(): Promise<MessageRow[]> {
    const columns = 'id, content, processed_message_content, source_id, account_id, inbox_id'
    return (await this.admin.query<MessageRow>(`SELECT ${columns} FROM messages ORDER BY id`)).rows
  }

  async contents(): Promise<(string | null)[]> {
    return (await this.rows()).map(({ content }) => content)
  }

  /** The date of each row as Chatwoot tells it: in whole seconds since 1970, of the time in UTC. */
  async dates(table: 'messages' | 'attachments' = 'messages'): Promise<Record<number, number>> {
    const epoch = 'floor(extract(epoch FROM created_at))::float8'
    const query = `SELECT id, ${epoch} AS at FROM ${table} ORDER BY id`
    const { rows } = await this.admin.query<{ id: number; at: number }>(query)
    return Object.fromEntries(rows.map(({ id, at }) => [id, at]))
  }

  async conversation(id: number): Promise<Omit<ConversationFields, 'account_id' | 'inbox_id'>> {
    const times = ['created_at', 'last_activity_at', 'waiting_since', 'first_reply_created_at']
    const epochs = times.map((each) => `floor(extract(epoch FROM ${each}))::float8 AS ${each}`)
    const query = `SELECT id, status, ${epochs.join(', ')} FROM conversations WHERE id = $1`
    const [row] = (await this.admin.query<ConversationFields>(query, [id])).rows
    if (!row) throw new Error(`there is no conversation ${id}`)
    return row
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync()
  }

  /** All rows have the same columns. */
  async #insert(table: string, rows: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
    const columns = Object.keys(rows[0] ?? {})
    if (columns.length === 0) return
    const values = columns.map((column) => storedAs(column, column))
    const given = columns.map((column) => `${column} ${typeOf(column)}`)
    await this.admin.query(
      `INSERT INTO ${table} (${columns.join(', ')})
       SELECT ${values.join(', ')} FROM json_to_recordset($1) AS each (${given.join(', ')})`,
      [JSON.stringify(rows)],
    )
  }

  /** Chatwoot itself writes only what it changed, so a corrected time stays. */
  async #copy(row: ConversationFields): Promise<void> {
    const before = this.#copied.get(row.id)
    this.#copied.set(row.id, row)
    if (!before) {
      await this.insertConversation(row)
      return
    }
    const changed = Object.entries(row).filter(
      ([column, value]) => before[column as keyof ConversationFields] !== value,
    )
    if (changed.length === 0) return
    const steps = changed.map(([column], n) => `${column} = ${storedAs(column, `$${n + 2}::${typeOf(column)}`)}`)
    const values = [row.id, ...changed.map(([, value]) => value)]
    await this.admin.query(`UPDATE conversations SET ${steps.join(', ')} WHERE id = $1`, values)
  }
}

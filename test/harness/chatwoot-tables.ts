// A PostgreSQL database with Chatwoot's table of messages, as far as the service uses it.

import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import { newLocation } from './databases.ts'

export type MessageRow = {
  id: number
  content: string | null
  processed_message_content: string | null
  source_id: string | null
  account_id: number
  inbox_id: number
}

const table = `CREATE TABLE messages (
  id serial PRIMARY KEY,
  content text,
  account_id integer NOT NULL,
  inbox_id integer NOT NULL,
  conversation_id integer NOT NULL DEFAULT 1,
  message_type integer NOT NULL DEFAULT 0,
  created_at timestamp without time zone NOT NULL DEFAULT now(),
  updated_at timestamp without time zone NOT NULL DEFAULT now(),
  private boolean DEFAULT false NOT NULL,
  source_id text,
  content_attributes json DEFAULT '{}'::json,
  processed_message_content text
)`

/** The rights that docs/operations.md names. */
const grants = [
  'SELECT (id, account_id, inbox_id, source_id, content, processed_message_content)',
  'UPDATE (content, processed_message_content)',
]

export class ChatwootTables {
  /** With the rights that the documents name, and no others. */
  readonly url: string
  readonly admin: pg.Client
  readonly #owned: AsyncDisposableStack

  private constructor(url: string, admin: pg.Client, owned: AsyncDisposableStack) {
    this.url = url
    this.admin = admin
    this.#owned = owned
  }

  static async open(): Promise<ChatwootTables> {
    await using stack = new AsyncDisposableStack()
    const { url } = stack.use(await newLocation('postgres'))
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    stack.defer(() => admin.end())
    await admin.query(table)
    const role = `causeway_${randomBytes(6).toString('hex')}`
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
    stack.defer(async () => {
      await admin.query(`DROP OWNED BY ${role}`)
      await admin.query(`DROP ROLE ${role}`)
    })
    for (const grant of grants) await admin.query(`GRANT ${grant} ON messages TO ${role}`)
    const limited = new URL(url)
    limited.username = role
    limited.password = 'secret'
    return new ChatwootTables(limited.href, admin, stack.move())
  }

  async insert(...rows: readonly Partial<MessageRow>[]): Promise<void> {
    for (const { id, content, processed_message_content = content, source_id, account_id = 1, inbox_id = 1 } of rows) {
      await this.admin.query(
        `INSERT INTO messages (id, content, processed_message_content, source_id, account_id, inbox_id)
         VALUES ($1, $2, $3, $4, $5, $6)`,
        [id, content, processed_message_content, source_id, account_id, inbox_id],
      )
    }
  }

  /** Has the messages of the simulated helpdesk that are not here yet. */
  async follow({ see }: Pick<SimHelpdesk, 'see'>): Promise<void> {
    const known = new Set((await this.rows()).map(({ id }) => id))
    for (const { id, content, sourceId } of see.messages()) {
      if (!known.has(id)) await this.insert({ id, content, source_id: sourceId })
    }
  }

  async rows(): Promise<MessageRow[]> {
    const columns = 'id, content, processed_message_content, source_id, account_id, inbox_id'
    return (await this.admin.query<MessageRow>(`SELECT ${columns} FROM messages ORDER BY id`)).rows
  }

  async contents(): Promise<(string | null)[]> {
    return (await this.rows()).map(({ content }) => content)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync()
  }
}

// Chatwoot's PostgreSQL, for what its API cannot change. Uses few connections and short transactions, and opens them only when
// there is work. Chatwoot works in the same tables, so a lock that is taken ends the work and not Chatwoot's patience.

import pg from 'pg'
import type { Pool, PoolClient } from 'pg'
import type { InboxAccess } from '../../core/downstream.ts'
import { HelpdeskDatabaseError, installationAt } from '../../core/helpdesk/helpdesk-database.ts'
import type { Backdated, DatedMessage, HelpdeskDatabase } from '../../core/helpdesk/helpdesk-database.ts'
import type { HeaderChange, HeaderChanges } from '../../core/helpdesk/helpdesk-database.ts'
import type { Log } from '../../lib/log.ts'
import { backdate } from './backdate.ts'
import { rewriteHeaders } from './rewrite-headers.ts'

type Deps = {
  url: string
  /** The Chatwoot that keeps its data here. */
  baseUrl: string
  log: Log
}

type Work = 'headers' | 'dates'

const connections = 2
const connectMs = 5000
const lockMs = 2000
const statementMs = 10_000
/** The server gives up before we do: a change that we report as failed is not made later. */
const queryMs = 15_000
/** A process that stands still inside a transaction would keep Chatwoot from its rows. */
const idleMs = 1500
const limits = [
  `SET LOCAL lock_timeout = ${lockMs}`,
  `SET LOCAL statement_timeout = ${statementMs}`,
  `SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`,
]

export class ChatwootDatabase implements HelpdeskDatabase {
  readonly #deps: Deps
  readonly #pool: Pool
  /** The kinds of work that fail. They need different rights. */
  readonly #failing = new Set<Work>()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#pool = new pg.Pool({
      connectionString: deps.url,
      max: connections,
      connectionTimeoutMillis: connectMs,
      query_timeout: queryMs,
      keepAlive: true,
      application_name: 'causeway',
      // Idle connections do not keep the process alive.
      allowExitOnIdle: true,
    })
    // A lost idle connection is opened anew. Without a listener it would end the process.
    this.#pool.on('error', () => undefined)
  }

  serves({ baseUrl }: Pick<InboxAccess, 'baseUrl'>): boolean {
    return installationAt(baseUrl) === installationAt(this.#deps.baseUrl)
  }

  rewriteHeaders(
    inbox: Pick<InboxAccess, 'accountId' | 'inboxId'>,
    changes: readonly HeaderChange[],
  ): Promise<HeaderChanges> {
    return this.#transact('headers', (client) => rewriteHeaders(client, inbox, changes))
  }

  backdate(inbox: Pick<InboxAccess, 'accountId' | 'inboxId'>, dates: readonly DatedMessage[]): Promise<Backdated> {
    return this.#transact('dates', (client) => backdate(client, inbox, dates))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end()
  }

  /** Commits what the work did, or undoes it. Logs one line when a kind of work begins to fail, and one when it is back. */
  async #transact<T>(work: Work, run: (client: PoolClient) => Promise<T>): Promise<T> {
    try {
      const done = await this.#attempt(run)
      if (this.#failing.delete(work)) this.#deps.log.info({ work }, 'the database of the helpdesk answers again')
      return done
    } catch (error) {
      const reason = reasonOf(error)
      // The error itself is not logged: it may refer to the client, which holds the password.
      const isNew = !this.#failing.has(work)
      if (isNew) this.#deps.log.warn({ work, reason }, 'the database of the helpdesk does not do what it is asked')
      this.#failing.add(work)
      throw new HelpdeskDatabaseError(`the database of the helpdesk did not do what it was asked: ${reason}`, {
        cause: error,
      })
    }
  }

  async #attempt<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect()
    // The pool does not listen to a client in use. A query in flight rejects with the same error.
    const ignoreLoss = () => undefined
    client.on('error', ignoreLoss)
    let isSound = false
    try {
      // Not among the options of the connection: a pooler such as PgBouncer refuses them there.
      await client.query(['BEGIN', ...limits].join('; '))
      const done = await work(client)
      await client.query('COMMIT')
      isSound = true
      return done
    } finally {
      client.off('error', ignoreLoss)
      // A connection in an unknown state is closed. The server then undoes the transaction.
      client.release(!isSound)
    }
  }
}

/** A server name with several addresses fails with a code and without a message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ((error as NodeJS.ErrnoException).code ?? error.name)
}

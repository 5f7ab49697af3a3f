// A PostgreSQL with a replica that can take over. Clients keep the address: a relay leads them to the server that writes.

import { execFile } from 'node:child_process'
import { appendFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { PostgresServer } from '../../../harness/postgres-server.ts'
import { waitUntil } from '../../../harness/wait-until.ts'
import { Relay } from './relay.ts'

const run = promisify(execFile)

export class ReplicatedServer {
  readonly url: string
  readonly #primary: PostgresServer
  readonly #replica: PostgresServer
  readonly #relay: Relay
  readonly #owned: AsyncDisposableStack

  private constructor(primary: PostgresServer, replica: PostgresServer, relay: Relay, owned: AsyncDisposableStack) {
    this.url = relay.urlOf(primary.url)
    this.#primary = primary
    this.#replica = replica
    this.#relay = relay
    this.#owned = owned
  }

  /** With a synchronous replica the primary confirms only what the replica has. */
  static async start({ isSynchronous }: { isSynchronous: boolean }): Promise<ReplicatedServer> {
    await using stack = new AsyncDisposableStack()
    let copy = ''
    const onInitialised = async (directory: string) => {
      copy = `${directory}-replica`
      stack.defer(() => rm(copy, { recursive: true, force: true }))
      // Keeps the owner of the files, which must be the user that the server runs as.
      await run('cp', ['-a', directory, copy])
    }
    const flags = isSynchronous ? ['synchronous_standby_names=*'] : []
    const primary = stack.use(await PostgresServer.start({ flags, onInitialised }))
    const { hostname, port } = new URL(primary.url)
    await writeFile(join(copy, 'standby.signal'), '')
    const source = `host=${hostname} port=${port} user=postgres password=postgres`
    await appendFile(join(copy, 'postgresql.auto.conf'), `\nprimary_conninfo = '${source}'\n`)
    const replica = stack.use(await PostgresServer.startReplica(copy))
    const isStreaming = async () =>
      (await ask(primary, 'SELECT state FROM pg_stat_replication'))[0]?.['state'] === 'streaming'
    await waitUntil('the replica follows', isStreaming)
    const relay = stack.use(await Relay.to({ host: hostname, port: Number(port) }))
    return new ReplicatedServer(primary, replica, relay, stack.move())
  }

  /** The replica gets nothing more of what the primary confirms. */
  async fallBehind(): Promise<void> {
    await ask(this.#replica, `ALTER SYSTEM SET primary_conninfo = ''`)
    await ask(this.#replica, 'SELECT pg_reload_conf()')
    const isAlone = async () => (await ask(this.#primary, 'SELECT state FROM pg_stat_replication')).length === 0
    await waitUntil('the replica does not follow any more', isAlone)
  }

  /** The primary dies, and the replica takes its place. */
  async failOver(): Promise<void> {
    await this.#primary.crash()
    await ask(this.#replica, 'SELECT pg_promote()')
    const { hostname, port } = new URL(this.#replica.url)
    this.#relay.leadTo({ host: hostname, port: Number(port) })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned.disposeAsync()
  }
}

async function ask({ url }: PostgresServer, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}

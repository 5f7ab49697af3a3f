// A simulated network with as many linked accounts for the bare library as for ours, each way in a process of its own.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Child } from './child.ts'
import type { BareDesk } from './instances-bare.ts'
import type { OursDesk } from './instances-ours.ts'
import { fillDatabase, parseCredentials, writeFiles } from './instances-seed.ts'
import type { SimDesk } from './instances-sim.ts'
import type { Memory } from './own-use.ts'

export type Way = 'ours' | 'bare'
type Process = { ask(name: 'cpuMs'): Promise<number>; ask(name: 'memory'): Promise<Memory> }
export type Spent = { wallMs: number; cpuMs: number }

const pollMs = 100
const connectMs = 200_000
/** What a login sets off goes on for a moment after the server counts the client as there. */
const settleMs = 2_000

export class Stage implements AsyncDisposable {
  readonly count: number
  readonly sim: Child<SimDesk>
  readonly ours: Child<OursDesk>
  readonly bare: Child<BareDesk>
  readonly #files: string[]
  readonly #owned: AsyncDisposableStack
  /** Of the service, once it has started. */
  url = ''

  private constructor(
    count: number,
    parts: Pick<Stage, 'sim' | Way> & { files: string[] },
    owned: AsyncDisposableStack,
  ) {
    this.count = count
    this.sim = parts.sim
    this.ours = parts.ours
    this.bare = parts.bare
    this.#files = parts.files
    this.#owned = owned
  }

  static async open(count: number, preKeys: number): Promise<Stage> {
    await using stack = new AsyncDisposableStack()
    const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
    stack.defer(() => rm(directory, { recursive: true, force: true }))
    const sim = stack.use(new Child<SimDesk>('./instances-sim.ts'))
    const linked = async (way: Way) =>
      (await sim.ask('link', numbersOf(way, count))).map((text) => parseCredentials(text, preKeys))
    const files = await writeFiles(directory, await linked('bare'))
    const database = join(directory, 'service.db')
    await fillDatabase(database, await linked('ours'))
    const { url, rootKey } = await sim.ask('address')
    const bare = stack.use(new Child<BareDesk>('./instances-bare.ts', { NETWORK_URL: url, NETWORK_ROOT_KEY: rootKey }))
    const settings = { SERVICE_NETWORK_URL: url, SERVICE_NETWORK_ROOT_KEY: rootKey, DATABASE_URL: `file:${database}` }
    const ours = stack.use(new Child<OursDesk>('./instances-ours.ts', { ...settings, PORT: '0', LOG_FORMAT: 'json' }))
    return new Stage(count, { sim, ours, bare, files }, stack.move())
  }

  process(way: Way): Process {
    return this[way]
  }

  /** Wall time until the server sees all of them, CPU until they have settled. */
  connect(way: Way): Promise<Spent> {
    return this.#spend(way, async () => {
      if (way === 'ours') this.url = await this.ours.ask('start')
      else await this.bare.ask('start', this.#files)
    })
  }

  /** All connections of one side drop at once. */
  reconnect(way: Way): Promise<Spent> {
    return this.#spend(way, () => this.sim.ask('drop', numbersOf(way, this.count)))
  }

  /** Fails when the network was asked for something it does not know, or an instance is not what it should be. */
  async check(): Promise<void> {
    const problems = await this.sim.ask('problems')
    if (problems.length > 0) throw new Error(problems.join('\n'))
    const list = (await (await fetch(`${this.url}/api/instances`)).json()) as { state: string }[]
    const ready = list.filter(({ state }) => state === 'ready').length
    if (ready < this.count) throw new Error(`only ${ready} of ${this.count} instances are ready`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync()
  }

  async #spend(way: Way, start: () => Promise<unknown>): Promise<Spent> {
    const before = await this.process(way).ask('cpuMs')
    const started = performance.now()
    await start()
    const deadline = started + connectMs
    for (let online = -1; online < this.count;) {
      if (performance.now() > deadline) throw new Error(`${way}: ${online} of ${this.count} online in time`)
      await sleep(pollMs)
      online = await this.sim.ask('online', numbersOf(way, this.count))
    }
    const wallMs = performance.now() - started
    await sleep(settleMs)
    return { wallMs, cpuMs: (await this.process(way).ask('cpuMs')) - before }
  }
}

function numbersOf(way: Way, count: number): string[] {
  const prefix = way === 'ours' ? '551190' : '551180'
  return Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(7, '0')}`)
}

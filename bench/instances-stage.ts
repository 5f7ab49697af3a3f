// A simulated network with as many linked accounts for the bare library as for ours, each way in a process of its own.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Child } from './child.ts'
import { numbersOf } from './flow.ts'
import type { BareDesk } from './instances-bare.ts'
import type { OursDesk } from './instances-ours.ts'
import { fillDatabase, parseCredentials, writeFiles } from './instances-seed.ts'
import type { Credentials } from './instances-seed.ts'
import type { SimDesk } from './instances-sim.ts'
import type { Memory } from './own-use.ts'

export type Way = 'ours' | 'bare'

type Process = { ask(name: 'cpuMs'): Promise<number>; ask(name: 'memory'): Promise<Memory> }
export type Spent = { wallMs: number; cpuMs: number; simulatorCpuMs: number; online: number }

const pollMs = 100
const connectMs = 200_000
/** Credentials of more accounts make an answer too large for one message between processes. */
const linkedAtOnce = 500
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
    const numbers = numbersOf(count)
    const files = await writeFiles(directory, await link(sim, 'bare', numbers.bare, preKeys))
    const database = join(directory, 'service.db')
    await fillDatabase(database, await link(sim, 'ours', numbers.ours, preKeys))
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
  async connect(way: Way): Promise<Spent> {
    return this.#all(way, await this.tryConnect(way, connectMs))
  }

  /** The same, with as many as are connected after this time. */
  tryConnect(way: Way, withinMs: number): Promise<Spent> {
    return this.#spend(way, withinMs, async () => {
      if (way === 'ours') this.url = await this.ours.ask('start')
      else await this.bare.ask('start', this.#files)
    })
  }

  /** All connections of one side drop at once. */
  async reconnect(way: Way): Promise<Spent> {
    return this.#all(way, await this.#spend(way, connectMs, () => this.sim.ask('drop', way)))
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

  async #spend(way: Way, withinMs: number, start: () => Promise<unknown>): Promise<Spent> {
    const cpu = () => Promise.all([this.process(way).ask('cpuMs'), this.sim.ask('cpuMs')])
    const [before, simulatorBefore] = await cpu()
    const started = performance.now()
    await start()
    let online = -1
    while (online < this.count && performance.now() < started + withinMs) {
      await sleep(pollMs)
      online = await this.sim.ask('online', way)
    }
    const wallMs = performance.now() - started
    await sleep(settleMs)
    const [after, simulatorAfter] = await cpu()
    return { wallMs, cpuMs: after - before, simulatorCpuMs: simulatorAfter - simulatorBefore, online }
  }

  #all(way: Way, spent: Spent): Spent {
    if (spent.online < this.count) throw new Error(`${way}: ${spent.online} of ${this.count} online in time`)
    return spent
  }
}

async function link(sim: Child<SimDesk>, way: Way, numbers: string[], preKeys: number): Promise<Credentials[]> {
  const linked: Credentials[] = []
  for (let from = 0; from < numbers.length; from += linkedAtOnce) {
    const texts = await sim.ask('link', { way, numbers: numbers.slice(from, from + linkedAtOnce) })
    linked.push(...texts.map((text) => parseCredentials(text, preKeys)))
  }
  return linked
}

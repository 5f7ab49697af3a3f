// Nodes that get the callbacks of a helpdesk: what the benchmarks of forwarded callbacks share.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Child } from '../child.ts'
import { figuresOf, serviceEnvironment, until } from '../flow.ts'
import type { Figures } from '../flow.ts'
import { parseCredentials } from '../instances-seed.ts'
import type { CallbackDesk } from '../outbound-callbacks.ts'
import type { SimDesk } from '../outbound-sim.ts'
import type { BenchPostgres } from '../postgres.ts'
import { NodeSet } from './node-set.ts'

type Sides = {
  sim: Child<SimDesk>
  callbacks: Child<CallbackDesk>
}

type Options = Sides & {
  postgres: BenchPostgres
  size: number
  instances: number
  /** The numbers of the accounts begin with it. */
  prefix: string
}

/** So many messages make a node quick; before that, most of its time goes into compiling. */
const messagesUntilQuick = 4000
const idleMs = Number(process.env['BENCH_IDLE_MS'] ?? 5000)

export class CallbackStage implements AsyncDisposable {
  readonly set: NodeSet
  /** What all nodes together use while nothing happens, of a core. Beats and timers are no cost of a message. */
  #idleUse = 0
  readonly #sides: Sides
  readonly #chats: readonly string[]

  private constructor(set: NodeSet, sides: Sides, chats: readonly string[]) {
    this.set = set
    this.#sides = sides
    this.#chats = chats
  }

  /** Resolves when all accounts are online. */
  static async open({ postgres, sim, callbacks, size, instances, prefix }: Options): Promise<CallbackStage> {
    const numbers = Array.from({ length: instances }, (_, index) => `${prefix}${String(index).padStart(7, '0')}`)
    const linked = await sim.ask('link', numbers)
    const databaseUrl = await postgres.newDatabase()
    const settings = { ...serviceEnvironment(await sim.ask('facts'), databaseUrl), SERVICE_DRAIN_RATE: '0' }
    const accounts = linked.map(({ credentials }) => parseCredentials(credentials, 30))
    await using stack = new AsyncDisposableStack()
    const set = stack.use(await NodeSet.open({ databaseUrl, size, accounts, settings }))
    await until('all accounts are online', async () => (await sim.ask('online', numbers)) === instances)
    stack.move()
    return new CallbackStage(
      set,
      { sim, callbacks },
      linked.map(({ person }) => person),
    )
  }

  /**
   * Until every node is as quick as it gets, and its use while idle is known. `write` sends so many messages, the way that is
   * measured later. `mostBlocks` limits a quick run.
   */
  async warmUp(write: () => Promise<unknown>, messages: number, mostBlocks: number): Promise<void> {
    const blocks = Math.ceil((messagesUntilQuick * this.set.nodes.length) / messages)
    for (let n = 0; n < Math.min(blocks, mostBlocks); n++) await write()
    const [before, started] = [await this.set.cpuMs(), performance.now()]
    await sleep(idleMs)
    this.#idleUse = ((await this.set.cpuMs()) - before) / (performance.now() - started)
  }

  /** Agents write about so many messages. The callbacks of each instance go to the addresses of its list in turn. */
  async write(urls: readonly (readonly string[])[], messages: number): Promise<Figures> {
    const { sim, callbacks } = this.#sides
    const chats = this.#chats
    const each = Math.ceil(messages / chats.length)
    const count = each * chats.length
    const { helpdesk } = await sim.ask('facts')
    const place = { accountId: helpdesk.account_id, inboxId: helpdesk.inbox_id }
    const [before, receivedBefore] = [await this.set.cpuMs(), await sim.ask('received')]
    const started = performance.now()
    const times = await callbacks.ask('write', { chats: [...chats], urls, each, ...place })
    const wallMs = performance.now() - started
    await until('all messages have arrived', async () => (await sim.ask('received')) - receivedBefore >= count)
    const idleCpuMs = this.#idleUse * (performance.now() - started)
    return figuresOf({ cpuMs: (await this.set.cpuMs()) - before - idleCpuMs, wallMs, count, times })
  }

  /** What the network was asked for and does not know. */
  async check(): Promise<void> {
    const problems = await this.#sides.sim.ask('problems')
    if (problems.length > 0) throw new Error(problems.join('\n'))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.set[Symbol.asyncDispose]()
  }
}

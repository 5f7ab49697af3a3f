// Nodes that get the callbacks of a helpdesk: what the benchmarks of forwarded callbacks share.

import type { Child } from '../child.ts'
import { figuresOf, serviceEnvironment, until } from '../flow.ts'
import type { Figures } from '../flow.ts'
import { parseCredentials } from '../instances-seed.ts'
import type { SimDesk } from '../outbound-sim.ts'
import type { BenchPostgres } from '../postgres.ts'
import { NodeSet } from './node-set.ts'

type Options = {
  postgres: BenchPostgres
  sim: Child<SimDesk>
  size: number
  instances: number
  /** The numbers of the accounts begin with it. */
  prefix: string
}

export class CallbackStage implements AsyncDisposable {
  readonly set: NodeSet
  readonly #sim: Child<SimDesk>
  readonly #chats: readonly string[]

  private constructor(set: NodeSet, sim: Child<SimDesk>, chats: readonly string[]) {
    this.set = set
    this.#sim = sim
    this.#chats = chats
  }

  /** Resolves when all accounts are online. */
  static async open({ postgres, sim, size, instances, prefix }: Options): Promise<CallbackStage> {
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
      sim,
      linked.map(({ person }) => person),
    )
  }

  /** Agents write about so many messages. The callbacks of each instance go to the addresses of its list in turn. */
  async write(urls: readonly (readonly string[])[], messages: number): Promise<Figures> {
    const chats = this.#chats
    const each = Math.ceil(messages / chats.length)
    const count = each * chats.length
    const { helpdesk } = await this.#sim.ask('facts')
    const place = { accountId: helpdesk.account_id, inboxId: helpdesk.inbox_id }
    const [before, receivedBefore] = [await this.set.cpuMs(), await this.#sim.ask('received')]
    const started = performance.now()
    const times = await this.#sim.ask('write', { chats: [...chats], urls, each, ...place })
    const wallMs = performance.now() - started
    await until('all messages have arrived', async () => (await this.#sim.ask('received')) - receivedBefore >= count)
    return figuresOf({ cpuMs: (await this.set.cpuMs()) - before, wallMs, count, times })
  }

  /** What the network was asked for and does not know. */
  async check(): Promise<void> {
    const problems = await this.#sim.ask('problems')
    if (problems.length > 0) throw new Error(problems.join('\n'))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.set[Symbol.asyncDispose]()
  }
}

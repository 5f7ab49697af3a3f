// Nodes whose instances move: what the benchmarks of failover and hand-over share.

import { Child } from '../child.ts'
import { instanceName, until } from '../flow.ts'
import { parseCredentials } from '../instances-seed.ts'
import type { SimDesk } from '../instances-sim.ts'
import type { BenchPostgres } from '../postgres.ts'
import { NodeSet } from './node-set.ts'

/** `leftAt` and `backAt` are on the clock on the wall. */
export type Absence = { leftAt: number; backAt: number }

export class MovingStage implements AsyncDisposable {
  readonly set: NodeSet
  readonly sim: Child<SimDesk>
  readonly #numbers: ReadonlyMap<string, string>
  readonly #owned: AsyncDisposableStack

  private constructor(parts: Pick<MovingStage, 'set' | 'sim'>, numbers: string[], owned: AsyncDisposableStack) {
    this.set = parts.set
    this.sim = parts.sim
    this.#numbers = new Map(numbers.map((number, index) => [instanceName(index), number]))
    this.#owned = owned
  }

  /** Resolves when all accounts are online. */
  static async open(postgres: BenchPostgres, size: number, instances: number): Promise<MovingStage> {
    await using stack = new AsyncDisposableStack()
    const sim = stack.use(new Child<SimDesk>('./instances-sim.ts'))
    const numbers = Array.from({ length: instances }, (_, index) => `551190${String(index).padStart(7, '0')}`)
    const accounts = (await sim.ask('link', { way: 'ours', numbers })).map((text) => parseCredentials(text, 30))
    const { url, rootKey } = await sim.ask('address')
    const settings = { SERVICE_NETWORK_URL: url, SERVICE_NETWORK_ROOT_KEY: rootKey }
    const databaseUrl = await postgres.newDatabase()
    const set = stack.use(await NodeSet.open({ databaseUrl, size, accounts, settings }))
    const stage = new MovingStage({ set, sim }, numbers, stack.move())
    await until('all accounts are online', async () => (await sim.ask('online', 'ours')) === instances)
    return stage
  }

  /** Waits until all of these instances were offline since that time and are online again. */
  async absences(instances: readonly string[], since: number): Promise<Absence[]> {
    const numbers = instances.map((instance) => this.#numbers.get(instance) ?? '')
    let found: Absence[] = []
    await until('all instances are online again', async () => {
      const all = await this.sim.ask('absences', { numbers, since })
      found = all.flatMap(({ leftAt, backAt }) =>
        leftAt !== undefined && backAt !== undefined && backAt >= leftAt ? [{ leftAt, backAt }] : [],
      )
      return found.length === numbers.length
    })
    return found
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned.disposeAsync()
  }
}

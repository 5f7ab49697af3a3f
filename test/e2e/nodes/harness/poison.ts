// An instance that ends its process whenever it is online: the test kills the process that holds it, node or cell.

import type { ClusterStage } from './cluster-stage.ts'

type Killed = { name: string; isCell: boolean; at: number }

export class Poison {
  readonly killed: Killed[] = []
  readonly #stage: ClusterStage
  readonly #instance: string
  readonly #leave: () => void
  #last: Promise<void> = Promise.resolve()

  /** `index` is the number of the account of the instance. */
  constructor(stage: ClusterStage, index: number) {
    this.#stage = stage
    this.#instance = `n${index}`
    const phone = stage.parts.phones[index]
    if (!phone) throw new Error('there is no such account')
    this.#leave = phone.companionEvents.subscribe(({ state }) => {
      if (state === 'online') this.#last = this.#last.then(() => this.#kill())
    })
    if (phone.companion.isConnected) this.#last = this.#kill()
  }

  get killedNodes(): string[] {
    return this.killed.filter(({ isCell }) => !isCell).map(({ name }) => name)
  }

  /** From now on the instance does no harm. */
  async end(): Promise<void> {
    this.#leave()
    await this.#last
  }

  async #kill(): Promise<void> {
    const holder = await this.#stage.nodes.owners.holderOf(this.#instance)
    if (!holder) return
    process.kill(holder.pid, 'SIGKILL')
    this.killed.push({ ...holder, at: performance.now() })
  }
}

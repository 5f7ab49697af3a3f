// The instances that this node holds. It tells the holder of every change, for each instance in order.

import type { InstanceName } from '../../core/ids.ts'
import type { Hold, NodeId } from '../../core/nodes/hold.ts'
import type { Assignment, Move, SeenNode } from '../../core/nodes/node.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { KeyedLanes } from '../../lib/queues/keyed-lanes.ts'
import { retryUntil } from '../../lib/retry.ts'
import type { Holder } from './holder.ts'

type Deps = {
  holder: Holder
  clock: Clock
  log: Log
  /** Ends the repetition of calls that fail. */
  stopped: AbortSignal
}

type Holding = {
  hold: Hold
  lost: AbortController
  /** Whether the holder was told of it. */
  isTold: boolean
  /** The wish that the holder was told of. */
  wish: string | undefined
}

const pauses = { firstMs: 250, ceilingMs: 4000 }

export class HeldInstances {
  readonly #deps: Deps
  readonly #held = new Map<InstanceName, Holding>()
  /** The epochs of instances that were deleted here. A read that began before still shows them. */
  readonly #dropped = new Map<InstanceName, number>()
  readonly #lanes = new KeyedLanes()
  readonly #running = new Set<Promise<unknown>>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get size(): number {
    return this.#held.size
  }

  find(instance: InstanceName): Hold | undefined {
    return this.#held.get(instance)?.hold
  }

  /** Takes what is assigned to this node and was not, and loses what is assigned to it no more. */
  compare(node: NodeId, assigned: readonly Assignment[]): void {
    const open = assigned.filter(({ quarantinedAt }) => quarantinedAt === null)
    const epochs = new Map(open.map(({ instance, epoch }) => [instance, epoch]))
    for (const [instance, epoch] of this.#dropped) {
      if (epochs.get(instance) === epoch) epochs.delete(instance)
      else this.#dropped.delete(instance)
    }
    for (const [instance, { hold }] of this.#held) if (epochs.get(instance) !== hold.epoch) this.#lose(instance)
    for (const [instance, epoch] of epochs) if (!this.#held.has(instance)) this.#take({ instance, node, epoch })
  }

  loseAll(): void {
    for (const instance of [...this.#held.keys()]) this.#lose(instance)
  }

  /** `known`: the holder was told of this wish before, or has nothing to give away. Rejects when the holder failed. */
  async giveAway({ instance, askedAt }: Move, to: SeenNode): Promise<'tried' | 'not_now' | 'known'> {
    const holding = this.#held.get(instance)
    const wish = `${to.id} ${askedAt}`
    if (!holding || holding.wish === wish) return 'known'
    holding.wish = wish
    const { hold, lost } = holding
    try {
      const answer = await this.#inLane(instance, async () =>
        lost.signal.aborted ? 'tried' : this.#deps.holder.giveAway(hold, to, lost.signal),
      )
      if (answer === 'not_now') holding.wish = undefined
      return answer
    } catch (error) {
      holding.wish = undefined
      throw error
    }
  }

  /** The instance is deleted here: its hold is worth nothing from now on. */
  drop(instance: InstanceName): void {
    const hold = this.find(instance)
    if (hold) this.#dropped.set(instance, hold.epoch)
    this.#lose(instance)
  }

  /** Resolves when the holder has nothing more to do, or with the signal after the work that runs now. */
  async settled(signal?: AbortSignal): Promise<void> {
    while (this.#running.size > 0 && !signal?.aborted) await Promise.allSettled(this.#running)
  }

  /** Resolves when the holder has followed every change of this instance so far. */
  settledOf(instance: InstanceName): Promise<void> {
    return this.#inLane(instance, () => Promise.resolve())
  }

  #take(hold: Hold): void {
    const lost = new AbortController()
    const holding: Holding = { hold, lost, isTold: false, wish: undefined }
    this.#held.set(hold.instance, holding)
    const signal = AbortSignal.any([lost.signal, this.#deps.stopped])
    void this.#inLane(hold.instance, () =>
      this.#repeat(hold, 'take', signal, () => {
        holding.isTold = true
        return this.#deps.holder.take(hold, lost.signal)
      }),
    )
  }

  #lose(instance: InstanceName): void {
    const holding = this.#held.get(instance)
    if (!holding) return
    this.#held.delete(instance)
    const { hold, lost } = holding
    lost.abort()
    void this.#inLane(instance, async () => {
      if (holding.isTold) await this.#repeat(hold, 'lose', this.#deps.stopped, () => this.#deps.holder.lose(hold))
    })
  }

  #inLane<Result>(instance: InstanceName, work: () => Promise<Result>): Promise<Result> {
    const running = this.#lanes.run(instance, work).finally(() => this.#running.delete(running))
    this.#running.add(running)
    return running
  }

  async #repeat(hold: Hold, call: 'take' | 'lose', signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const { clock, log } = this.#deps
    const { instance, epoch } = hold
    const onFailure = (err: unknown, failures: number) => {
      if (!signal.aborted) log.warn({ err, instance, epoch, call, failures }, 'a change of the owner failed here')
    }
    await retryUntil({ clock, signal, pauses, onFailure }, work)
  }
}

// A slow node gives itself a lower capacity, so that instances move away from it before the others take it for dead.

import type { NodeId } from '../core/nodes/hold.ts'
import type { NodeTable } from '../core/nodes/node.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { Ticker } from '../lib/ticker.ts'
import { capacityAfter, noteSample, quick } from './placement/capacity.ts'
import type { LoadSample } from './placement/capacity.ts'

type Deps = {
  nodes: Pick<NodeTable, 'setCapacity'>
  /** This node; undefined while the process is none. */
  id: () => NodeId | undefined
  /** Whether its beats go through. While they fail, the last one says nothing about the speed of this node. */
  isBeating: () => boolean
  /** The capacity with which it joins. */
  capacity: number
  /** How it was since the last call. */
  sample: () => Omit<LoadSample, 'at'>
  clock: Clock
  log: Log
}

const everyMs = 1_000

export class CapacityWatch {
  readonly #deps: Deps
  readonly #ticker: Ticker
  #slowness = quick
  /** What the table says. The capacity is undefined after a write without an answer. */
  #stored: { id: NodeId; capacity: number | undefined } | undefined
  /** When the last look ended; monotonic. */
  #lookedAt: number | undefined

  constructor(deps: Deps) {
    this.#deps = deps
    const { clock, log } = deps
    const work = () => this.#look().finally(() => (this.#lookedAt = clock.monotonic()))
    this.#ticker = new Ticker({ name: 'capacity', everyMs, work, clock, log })
  }

  start(): void {
    this.#ticker.start()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ticker[Symbol.asyncDispose]()
  }

  async #look(): Promise<void> {
    if (!this.#deps.isBeating()) {
      this.#slowness = { ...this.#slowness, slowSince: undefined }
      return
    }
    const { nodes, id: ownId, capacity: base, log } = this.#deps
    this.#slowness = noteSample(this.#slowness, this.#sample())
    const capacity = capacityAfter(base, this.#slowness)
    const id = ownId()
    if (id === undefined) return
    const stored = this.#stored?.id === id ? this.#stored.capacity : base
    if (capacity === stored) return
    this.#stored = { id, capacity: undefined }
    await nodes.setCapacity(id, capacity)
    this.#stored = { id, capacity }
    log.warn({ capacity, base }, 'the capacity of this node follows its speed')
  }

  /** A sample misses a turn of the loop that began right after the sample before. The look itself is late then. */
  #sample(): LoadSample {
    const { sample, clock } = this.#deps
    const at = clock.monotonic()
    const { loopDelayP99Ms, beatMs } = sample()
    const lateMs = this.#lookedAt === undefined ? 0 : at - this.#lookedAt - everyMs
    return { at, beatMs, loopDelayP99Ms: Math.max(loopDelayP99Ms, lateMs) }
  }
}

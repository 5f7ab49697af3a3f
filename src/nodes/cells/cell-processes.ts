// The cells that this node has started: processes for suspects, each of them a node of its own.

import { randomBytes } from 'node:crypto'
import type { NodeId } from '../../core/nodes/hold.ts'
import type { SeenNode } from '../../core/nodes/node.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { Ticker } from '../../lib/ticker.ts'
import { cellPath } from '../peer-routes.ts'
import { CellProcess } from './cell-process.ts'

type Deps = {
  /** The file that this process runs. */
  program: string
  /** Where other nodes reach this node. */
  address: string
  /** The living nodes, as the last beat showed them. */
  nodes: () => readonly SeenNode[]
  heldBy: (node: NodeId) => Promise<readonly unknown[]>
  /** Called for each process that is started. */
  onStart: () => void
  clock: Clock
  log: Log
}

type Started = {
  process: CellProcess
  /** Whether it was among the living nodes. */
  hasJoined: boolean
  /** Since when the other nodes have given it up, or it has ended itself. */
  goneSince?: number | undefined
  /** Since when it holds nothing. */
  idleSince?: number | undefined
}

const joinMs = 60_000
const joinPauseMs = 100
const everyMs = 5_000
/** A cell that ends itself is gone from the nodes a moment before its process ends. */
const goneMs = 5_000
/** Until then the next suspects need no new process. */
const idleMs = 60_000

export class CellProcesses {
  readonly #deps: Deps
  readonly #started = new Map<string, Started>()
  readonly #ticker: Ticker
  #isOver = false

  constructor(deps: Deps) {
    this.#deps = deps
    const { clock, log } = deps
    this.#ticker = new Ticker({ name: 'cells', everyMs, work: () => this.look(), clock, log })
    this.#ticker.start()
  }

  /** Where the cell with this key listens for requests of nodes. */
  urlOf(key: string): string | undefined {
    return this.#started.get(key)?.process.url
  }

  /** Resolves when the cell has joined and this node has seen it. */
  async start(): Promise<void> {
    if (this.#isEnding()) return
    const { program, address, onStart, clock, log } = this.#deps
    const key = randomBytes(8).toString('hex')
    const process = new CellProcess({ program, address: address + cellPath + key, clock, log })
    const started: Started = { process, hasJoined: false }
    this.#started.set(key, started)
    onStart()
    void process.exited.then(() => this.#started.delete(key))
    const until = clock.monotonic() + joinMs
    while (!this.#isEnding() && this.#find(started) === undefined) {
      if (process.hasExited) throw new Error('the cell ended before it was a node')
      if (clock.monotonic() >= until) {
        process.kill()
        throw new Error('the cell was no node after a minute')
      }
      await sleep(clock, joinPauseMs)
    }
  }

  /** Kills cells that are gone from the nodes and still run, and ends those that hold nothing. */
  async look(): Promise<void> {
    const at = this.#deps.clock.monotonic()
    for (const started of this.#started.values()) {
      const node = this.#find(started)
      if (node !== undefined) {
        started.goneSince = undefined
        const { length: held } = await this.#deps.heldBy(node.id)
        started.idleSince = held === 0 ? (started.idleSince ?? at) : undefined
        if (started.idleSince !== undefined && at - started.idleSince >= idleMs) void started.process.end()
      } else if (started.hasJoined) {
        started.goneSince ??= at
        if (at - started.goneSince >= goneMs) started.process.kill()
      }
    }
  }

  /** Ends all cells. What they hold is free then, and another node starts a cell for it. */
  async end(): Promise<void> {
    this.#isOver = true
    await Promise.all([...this.#started.values()].map(({ process }) => process.end()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#ticker[Symbol.asyncDispose](), this.end()])
  }

  #isEnding(): boolean {
    return this.#isOver
  }

  /** The cell among the living nodes. */
  #find(started: Started): SeenNode | undefined {
    const node = this.#deps.nodes().find(({ address }) => address === started.process.address)
    started.hasJoined ||= node !== undefined
    return node
  }
}

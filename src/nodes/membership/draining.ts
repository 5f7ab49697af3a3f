// A node that stops takes no more instances, and the others get those that it holds.

import type { NodeId } from '../../core/nodes/hold.ts'
import type { NodeTable, SeenNode } from '../../core/nodes/node.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { retryUntil } from '../../lib/retry.ts'
import { takesInstances } from '../placement/cluster.ts'

type Deps = {
  nodes: Pick<NodeTable, 'drain'>
  clock: Clock
  log: Log
  /** Ends the wait. */
  stopped: AbortSignal
}

const pauses = { firstMs: 250, ceilingMs: 2000 }

export class Draining {
  readonly #deps: Deps
  readonly #done = Promise.withResolvers<undefined>()
  #hasBegun = false

  constructor(deps: Deps) {
    this.#deps = deps
    deps.stopped.addEventListener('abort', () => {
      this.#done.resolve(undefined)
    })
  }

  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Resolves when `note` found that nothing is left to do. */
  async run(id: NodeId | undefined): Promise<void> {
    const { nodes, clock, log, stopped } = this.#deps
    this.#hasBegun = true
    const onFailure = (err: unknown) => {
      log.warn({ err }, 'the node could not be marked as draining')
    }
    if (id !== undefined) await retryUntil({ clock, signal: stopped, pauses, onFailure }, () => nodes.drain(id))
    await this.#done.promise
  }

  /** Called with each beat. Where no other node takes instances, waiting does not help. */
  note(held: number, others: readonly SeenNode[]): void {
    const hasTaker = others.some(takesInstances)
    if (this.#hasBegun && (held === 0 || !hasTaker)) this.#done.resolve(undefined)
  }
}

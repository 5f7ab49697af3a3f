// Reads what this node holds and what it is to give away, when the beat says that it changed. It runs beside the beat.

import type { NodeId } from '../../core/nodes/hold.ts'
import type { AssignmentTable, Move, SeenNode } from '../../core/nodes/node.ts'
import type { Log } from '../../lib/log.ts'
import type { HeldInstances } from './held-instances.ts'

type Deps = {
  assignments: Pick<AssignmentTable, 'heldBy' | 'moves' | 'dropWish'>
  held: HeldInstances
  /** This node, and the living ones as its last beat showed them; undefined while it is no node. */
  view: () => { id: NodeId; nodes: readonly SeenNode[] } | undefined
  log: Log
}

export class HoldReader {
  readonly #deps: Deps
  #version: number | undefined
  #isDue = false
  #hasRead = false
  #running: Promise<void> | undefined
  /** Wishes for a node that is not there. A node that has just joined is seen with the next beat. */
  #unseen = new Set<NodeId>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Whether the last reading that was asked for has succeeded. */
  get hasRead(): boolean {
    return this.#hasRead && !this.#isDue
  }

  /** Called with each beat. A version that was not read yet, or whose reading failed, is read. */
  noteVersion(version: number): void {
    if (version === this.#version && !this.#isDue) return
    this.#version = version
    this.readNow()
  }

  readNow(): void {
    this.#isDue = true
    this.#running ??= this.#readWhileDue().finally(() => (this.#running = undefined))
  }

  async settled(): Promise<void> {
    await this.#running
  }

  async #readWhileDue(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false
      try {
        await this.#read()
        this.#hasRead = true
      } catch (err) {
        this.#deps.log.warn({ err }, 'what this node holds could not be read')
        // The next beat repeats it.
        this.#isDue = true
        return
      }
    }
  }

  async #read(): Promise<void> {
    const { assignments, held, view } = this.#deps
    const id = view()?.id
    if (id === undefined) return
    const [assigned, moves] = await Promise.all([assignments.heldBy(id), assignments.moves()])
    const now = view()
    // It has another id since, and holds nothing of this.
    if (now?.id !== id) return
    held.compare(id, assigned)
    const unseen = new Set<NodeId>()
    for (const move of moves.filter(({ from }) => from === id)) {
      const to = now.nodes.find((node) => node.id === move.to && node.state === 'active')
      if (to) void this.#giveAway(move, to)
      else if (this.#unseen.has(move.to)) await assignments.dropWish(move.instance)
      else unseen.add(move.to)
    }
    this.#unseen = unseen
    // The next beat reads again.
    if (unseen.size > 0) this.#version = undefined
  }

  async #giveAway(move: Move, to: SeenNode): Promise<void> {
    const { held, assignments } = this.#deps
    try {
      const answer = await held.giveAway(move, to)
      if (answer === 'tried') this.readNow()
      // Few moves are under way at a time. One that waits would keep others from leaving.
      else if (answer === 'not_now') await assignments.dropWish(move.instance)
    } catch (err) {
      this.#deps.log.warn({ err, instance: move.instance }, 'an instance could not be given away')
      this.#version = undefined
    }
  }
}

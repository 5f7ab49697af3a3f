// Gives up dead nodes and passes their instances on, in one commit for each. It runs beside the beat.
//
// Every node that sees a dead one does this. The commit needs the beat that was seen, so that one of them succeeds, and none
// when the node beats after all.

import type { Assignment, NodeTable, Placement, SeenNode } from '../../core/nodes/node.ts'
import type { Peers } from '../../core/nodes/peers.ts'
import type { NodeId } from '../../core/nodes/hold.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { Log } from '../../lib/log.ts'
import { shownOwnerName } from '../owner-name.ts'

/** Who gets the instances of a dead node. Those without a place become free. */
export type Inherit = (
  dead: SeenNode,
  assignments: readonly Assignment[],
  living: readonly SeenNode[],
) => readonly Placement[]

type Deps = {
  nodes: Pick<NodeTable, 'bury'>
  assignments: { all(): Promise<Assignment[]> }
  peers: Pick<Peers, 'look'>
  inherit: Inherit
  /** Epoch milliseconds on the clock of the database. */
  now: () => number
  log: Log
  /** Called when this node got instances of a dead one. */
  onInherited: () => void
}

export class Burials {
  readonly #deps: Deps
  #running: Promise<void> | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The next beat starts it again for a node that is still there. */
  start(self: NodeId, dead: readonly SeenNode[], seen: readonly SeenNode[]): void {
    if (dead.length === 0) return
    const living = seen.filter(({ id }) => !dead.some((one) => one.id === id))
    this.#running ??= this.#buryAll(self, dead, living).finally(() => (this.#running = undefined))
  }

  async settled(): Promise<void> {
    await this.#running
  }

  async #buryAll(self: NodeId, dead: readonly SeenNode[], living: readonly SeenNode[]): Promise<void> {
    for (const one of dead) {
      try {
        await this.#bury(self, one, living)
      } catch (err) {
        this.#deps.log.warn({ err, node: shownOwnerName(one.name) }, 'a dead node could not be given up')
      }
    }
  }

  async #bury(self: NodeId, dead: SeenNode, living: readonly SeenNode[]): Promise<void> {
    const { nodes, assignments, peers, inherit, now, log, onInherited } = this.#deps
    const placements = inherit(dead, await assignments.all(), living)
    if (!(await nodes.bury(dead, placements, now()))) return
    log.warn(
      { node: shownOwnerName(dead.name), instances: placements.length },
      'a node is dead, others take its instances',
    )
    const takers = new Set(placements.map(({ node }) => node))
    if (takers.has(self)) onInherited()
    for (const peer of living) if (peer.id !== self && takers.has(peer.id)) void peers.look(peer).catch(ignoreRejection)
  }
}

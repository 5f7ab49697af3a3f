// The parts of a membership, and what each of them hears of the others.

import type { NodeId } from '../../core/nodes/hold.ts'
import type { AssignmentTable, NewNode, NodeTable } from '../../core/nodes/node.ts'
import type { Peers } from '../../core/nodes/peers.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { Burials } from './burials.ts'
import type { Inherit } from './burials.ts'
import { Draining } from './draining.ts'
import { HeldInstances } from './held-instances.ts'
import { HoldReader } from './hold-reader.ts'
import type { Holder } from './holder.ts'
import { Isolation } from './isolation.ts'
import { Joining } from './joining.ts'
import { LastAnswer } from './last-answer.ts'
import { NodeWatch } from './node-watch.ts'

/** What the rest of the service hears of the database and the node. */
type MembershipListener = {
  /** A tenant or the settings of an instance changed at any node. */
  onSettings: () => void
  /** The database was set back: it lacks what it had confirmed. */
  onSetBack: () => void
  /** This process cannot be a node any more. */
  onFatal: (reason: Error) => void
}

export type MembershipDeps = {
  /** `name` is the one of `newOwnerName`. */
  node: Omit<NewNode, 'id'>
  tables: { nodes: NodeTable; assignments: AssignmentTable }
  peers: Pick<Peers, 'renewed' | 'look'>
  holder: Holder
  inherit: Inherit
  listener: MembershipListener
  /** True only if the process of this name is certainly dead. */
  isDead: (name: string) => boolean
  clock: Clock
  log: Log
}

type Self = {
  /** Undefined while this process is no node. */
  id: () => NodeId | undefined
  stopped: AbortSignal
}

export type MembershipParts = ReturnType<typeof createMembershipParts>

export function createMembershipParts(deps: MembershipDeps, { id: ownId, stopped }: Self) {
  const { node, tables, peers, holder, inherit, isDead, clock, log } = deps
  const { nodes, assignments } = tables
  const last = new LastAnswer(clock)
  const held = new HeldInstances({ holder, clock, log, stopped })
  const view = () => {
    const id = ownId()
    return id === undefined ? undefined : { id, nodes: last.nodes }
  }
  const reader = new HoldReader({ assignments, held, view, log })
  const onInherited = () => {
    reader.readNow()
  }
  const onChange = (isIsolated: boolean) => {
    log.warn({ isIsolated }, 'the connections of a node follow its beats')
    holder.isolated(isIsolated)
  }
  return {
    last,
    held,
    reader,
    watch: new NodeWatch(),
    joining: new Joining({ node, nodes, isDead, clock, log, signal: stopped }),
    draining: new Draining({ nodes, clock, log, stopped }),
    isolation: new Isolation({ peers, clock, onChange }),
    burials: new Burials({ nodes, assignments, peers, inherit, now: () => last.databaseNow(), log, onInherited }),
  }
}

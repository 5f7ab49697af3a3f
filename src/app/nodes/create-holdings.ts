// Connects a node with the accounts: it opens what it holds, says who holds the rest, and places what has no owner.

import type { Duties } from '../../core/nodes/duties.ts'
import type { InstanceName } from '../../core/ids.ts'
import { isActive } from '../../core/instance.ts'
import type { AssignmentTable } from '../../core/nodes/node.ts'
import type { OwnerAnswer, Standing } from '../../core/nodes/owners.ts'
import type { Activity } from '../../core/nodes/placement.ts'
import { HandOver } from '../../instances/hand-over.ts'
import type { HandOverStep } from '../../instances/hand-over.ts'
import { Holdings } from '../../instances/holdings.ts'
import { systemClock } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { CellStarter } from '../../nodes/cells/cell-starter.ts'
import { KnownNames } from '../../nodes/known-names.ts'
import { firstOf } from '../../nodes/look-schedule.ts'
import type { Membership } from '../../nodes/membership/membership.ts'
import { takesInstances } from '../../nodes/placement/cluster.ts'
import { Rebalancer } from '../../nodes/rebalancer.ts'
import { RouteTable } from '../../nodes/route-table.ts'
import type { InstanceRow } from '../../storage/stores/accounts/instance-rows.ts'
import type { AccountSet } from '../create-accounts.ts'
import type { Base } from '../base.ts'
import type { NodeParts } from './create-node.ts'

/** How long a request waits until this node has read what it holds. */
const lookMs = 1000

type Parts = {
  node: NodeParts
  accounts: Pick<AccountSet, 'instances' | 'store' | 'network'>
  /** A job of the instance runs, or a file is on its way, which another node would have to begin anew. */
  isBusy: (instance: InstanceName) => boolean
  /** Messages wait to be sent. */
  hasWaiting: (instance: InstanceName) => boolean
  onHandOverStep: (step: HandOverStep) => Promise<void>
  onSettings: () => void
}

export type HoldingParts = ReturnType<typeof createHoldings>

export function createHoldings(base: Base, parts: Parts) {
  const { node, onSettings } = parts
  const { assignments } = node.tables
  const holdings = createHolder(base, parts)
  const names = new KnownNames({ read: () => namesOf(assignments), clock: systemClock })
  node.relay.connect({
    holder: holdings,
    onSettings: () => {
      names.forget()
      onSettings()
    },
  })
  base.stack.defer(() => {
    holdings.end()
    // A start that has failed takes nothing any more.
    node.relay.open()
  })
  return {
    holdings,
    rebalancer: createRebalancer(base, parts),
    owners: createRouteTable(node, holdings, names),
    standing: standingAt(holdings, node.membership),
    duties: dutiesOf(node, holdings),
  }
}

function createHolder({ log }: Base, { node, accounts, isBusy, hasWaiting, onHandOverStep: onStep }: Parts): Holdings {
  const { membership, tables, peers } = node
  const { instances: registry, store, network } = accounts
  const clock = databaseClock(membership)
  const { assignments } = tables
  const handOver = new HandOver({ registry, network, assignments, peers, clock, onStep, log })
  return new Holdings({
    ...{ registry, instances: store, handOver, hasWaiting, clock },
    isPinned: ({ state, record }) => state === 'qr_pending' || isBusy(record.name),
    random: Math.random,
    log,
  })
}

function createRebalancer({ log, stack }: Base, { node, accounts }: Parts): Rebalancer {
  const { membership, tables, peers, cells } = node
  const clock = databaseClock(membership)
  return stack.use(
    new Rebalancer({
      ...{ assignments: tables.assignments, peers, log },
      view: () => viewOf(membership),
      onAllPlaced: ({ nodes }) => {
        membership.noteNoneFree(nodes)
      },
      lookHere: () => {
        membership.lookNow()
      },
      activities: async () => new Map((await accounts.store.list()).map((row) => [row.name, activityOf(row)])),
      cells: cells && new CellStarter({ start: () => cells.start(), clock, log }),
      clock,
    }),
  )
}

function createRouteTable(node: NodeParts, holdings: Holdings, names: KnownNames): RouteTable {
  const { membership, tables } = node
  return new RouteTable({
    isHere: (instance) => holdings.standingOf(instance).standing === 'held',
    find: (instance) => findOwner(node, instance),
    names,
    takeQuarantined: async (instance) => {
      await tables.assignments.release(instance, membership.nodeHold.node, membership.databaseNow())
      await membership.follow(lookMs, instance)
    },
    clock: systemClock,
  })
}

function activityOf({ state, lastEventAt }: InstanceRow): Activity {
  return { isPinned: state === 'qr_pending', isConnected: isActive(state), lastUsedAt: lastEventAt ?? 0 }
}

function viewOf(membership: Membership) {
  const { id, state, nodes, free } = membership
  return id !== undefined && (state === 'active' || state === 'draining') ? { id, nodes, free } : undefined
}

/** The times of assignments and moves are on the clock of the database. */
function databaseClock(membership: Membership): Clock {
  return { ...systemClock, now: () => membership.databaseNow() }
}

async function namesOf(assignments: Pick<AssignmentTable, 'all'>): Promise<InstanceName[]> {
  return (await assignments.all()).map(({ instance }) => instance)
}

async function findOwner({ tables, membership }: NodeParts, instance: InstanceName): Promise<OwnerAnswer> {
  const found = await tables.assignments.find(instance)
  if (!found) return 'unknown'
  if (found.quarantinedAt !== null) return 'quarantined'
  const owner = membership.nodes.find(({ id }) => id === found.node)
  // What this node is to hold and has not opened yet is served soon.
  if (!owner || owner.id === membership.id) return 'none'
  return { id: owner.id, address: owner.address, epoch: found.epoch }
}

/** A node that asks under a higher epoch knows something that this node has not read yet. */
function standingAt(holdings: Holdings, membership: Membership) {
  return async (instance: InstanceName, epoch: number): Promise<Standing> => {
    const known = holdings.standingOf(instance)
    if (known.standing !== 'not_held' && known.epoch >= epoch) return known.standing
    await membership.follow(lookMs, instance)
    return holdings.standingOf(instance).standing
  }
}

function dutiesOf({ membership }: NodeParts, holdings: Holdings): Duties {
  return {
    // Also before every part has taken the instance: the parts write while they take it.
    holds: (instance) => membership.holds(instance),
    held: () => holdings.served(),
    isFirst: () => membership.id !== undefined && firstOf(membership.nodes) === membership.id,
    sharers: () => Math.max(1, membership.nodes.filter(takesInstances).length),
  }
}

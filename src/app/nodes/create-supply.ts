// How a node gets its instances when it starts, gets new ones, and gives them away when it stops.

import { BridgeError } from '../../core/errors.ts'
import { NotHeldError } from '../../core/nodes/hold.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { Arrivals } from '../../instances/service/arrivals.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import type { Membership } from '../../nodes/membership/membership.ts'
import { isCell, takesInstances } from '../../nodes/placement/cluster.ts'
import type { Base } from '../base.ts'
import type { AccountSet } from '../create-accounts.ts'
import type { InstanceSupply } from '../running-app.ts'
import { createCapacityWatch } from './create-capacity-watch.ts'
import type { HoldingParts } from './create-holdings.ts'
import type { NodeParts } from './create-node.ts'
import { takeFirst } from './first-takes.ts'

/** How long the request that creates an instance waits until the instance is live. */
const arrivalMs = 10_000
/** Balancers ask whether a node is ready every few seconds. Until then a node that stops goes on handing requests to others. */
const balancerMs = 5_000
/** How long a node that stops waits for others to take its instances. */
const drainMs = 60_000
const stopping = 'this node stops and takes no new instance; ask again, and another node creates it'

type Parts = {
  node: NodeParts
  held: HoldingParts
  pendingLogouts: AccountSet['pendingLogouts']
}

/** `prepare` is called before this process is a node. */
export function createSupply(base: Base, parts: Parts, prepare: InstanceSupply['prepare']): InstanceSupply {
  const { node, held, pendingLogouts } = parts
  const { link, membership } = node
  const capacity = link && createCapacityWatch(base, node)
  return {
    prepare,
    take: () => {
      node.relay.open()
      return takeFirst({ ...held, membership, isAlone: link === null, clock: systemClock })
    },
    boot: async () => {
      held.rebalancer.start()
      capacity?.start()
      held.holdings.begin()
      await pendingLogouts.start()
    },
    giveAway: () => giveAway(base, node),
    hasPeers: () => membership.hasServingPeers,
    othersGoOn: () => membership.nodes.some((node) => node.id !== membership.id && takesInstances(node)),
  }
}

/** What a cell holds may go to no node but another cell, which begins when this one has ended. */
async function giveAway({ node: self }: Pick<Base, 'node'>, { link, membership, cells }: NodeParts): Promise<void> {
  if (link && !isCell(self)) await Promise.all([drain(membership), cells?.end()])
}

async function drain(membership: Membership): Promise<void> {
  const over = new AbortController()
  const isNoticed = sleep(systemClock, balancerMs, over.signal)
  await Promise.race([membership.drain(), sleep(systemClock, drainMs, over.signal)])
  if (membership.hasServingPeers) await isNoticed
  over.abort()
}

/** An instance that is created here is assigned to this node in the same commit, so that it comes like every other one. */
export function createArrivals(
  { membership }: NodeParts,
  { holdings }: HoldingParts,
  instances: InstanceRegistry,
): Arrivals {
  return {
    begin: (name) => {
      if (membership.state === 'draining') throw new BridgeError('SERVICE_STOPPING', stopping)
      return holdings.expect(name)
    },
    seek: (name) => membership.follow(arrivalMs, name),
    arrive: async ({ name }) => {
      await membership.follow(arrivalMs, name)
      const account = instances.find(name)
      if (account) return account
      // It has an owner, which may be another node by now.
      throw new NotHeldError(name)
    },
    departed: (name) => {
      membership.dropDeleted(name)
    },
    look: () => {
      membership.lookNow()
    },
  }
}

// What a node adds to the service: requests for instances of other nodes go there, and instances come and go.

import type { HttpApp } from '../../http/http-app.ts'
import type { ForwardingDeps } from '../../http/forwarding/passage.ts'
import type { StandIn } from '../../core/nodes/stand-in.ts'
import type { InstanceName } from '../../core/ids.ts'
import { NotHeldError } from '../../core/nodes/hold.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { Arrivals } from '../../instances/instance-service.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import type { Membership } from '../../nodes/membership/membership.ts'
import type { Base } from '../base.ts'
import type { InstanceSupply } from '../running-app.ts'
import { createHoldings } from './create-holdings.ts'
import type { HoldingParts } from './create-holdings.ts'
import type { NodeParts } from './create-node.ts'
import { listenForNodes } from './create-peers.ts'
import type { NodeView } from './node-view.ts'

/** How long the start waits for the instances of this node. Those that take longer are served later. */
const firstTakesMs = 30_000
/** How long the request that creates an instance waits until the instance is live. */
const arrivalMs = 10_000
/** How long a node that stops waits for others to take its instances. */
const drainMs = 60_000

type Parts = {
  node: NodeParts
  accounts: Parameters<typeof createHoldings>[1]['accounts'] & { instances: InstanceRegistry }
  isBusy: (instance: InstanceName) => boolean
  onSettings: () => void
  standIn: StandIn
  /** Another node has stored messages of an instance that this node holds. */
  lookForRows: (instance: InstanceName) => void
}

export type Cluster = HoldingParts & {
  arrivals: Arrivals
  /** Null when this process runs alone. */
  forwarding: ForwardingDeps | null
  /** `server` is the one with the public routes. */
  supply(server: HttpApp): InstanceSupply
}

export function createCluster(base: Base, parts: Parts): Cluster {
  const { node, accounts, standIn, lookForRows } = parts
  const { link, membership } = node
  const held = createHoldings(base, parts)
  const forwarding = link && {
    ...{ owners: held.owners, peers: link.peers, forwarded: link.forwarded, standIn, clock: systemClock },
  }
  // The stack of the base is complete by the time this process listens.
  const listening = base.stack.use(new AsyncDisposableStack())
  const listenTo = async (server: HttpApp) => {
    if (!link) return
    await server.ready()
    await listenForNodes({ ...base, stack: listening }, link, {
      self: () => membership.id ?? '',
      standing: held.standing,
      calls: {
        renewed: () => membership.renewed(),
        look: () => {
          membership.lookNow()
        },
        drain: lookForRows,
        comingSoon: () => undefined,
      },
      serve: (request, response) => {
        server.routing(request, response)
      },
    })
  }
  const supply = (server: HttpApp): InstanceSupply => ({
    prepare: () => listenTo(server),
    take: async () => {
      await held.rebalancer.tick()
      await membership.follow(firstTakesMs)
    },
    boot: async () => {
      held.rebalancer.start()
      held.holdings.begin()
      await accounts.instances.resume()
    },
    giveAway: () => drain(membership),
    hasPeers: () => membership.nodes.length > 1,
  })
  return { ...held, forwarding, supply, arrivals: createArrivals(node, held, accounts.instances) }
}

/** An instance that is created here is assigned to this node in the same commit, so that it comes like every other one. */
function createArrivals({ membership }: NodeParts, { holdings }: HoldingParts, instances: InstanceRegistry): Arrivals {
  return {
    begin: (name) => holdings.expect(name),
    arrive: async ({ name }) => {
      await membership.follow(arrivalMs)
      const account = instances.find(name)
      if (account) return account
      // It has an owner, which may be another node by now.
      throw new NotHeldError(name)
    },
    departed: () => {
      membership.lookNow()
    },
  }
}

async function drain(membership: Membership): Promise<void> {
  if (membership.nodes.length < 2) return
  const over = new AbortController()
  await Promise.race([membership.drain(), sleep(systemClock, drainMs, over.signal)])
  over.abort()
}

export function nodeViewOf({ membership, link }: NodeParts): NodeView {
  return {
    // Alone it holds every instance, except while one of them has no owner.
    hasPeers: () => link !== null || membership.free > 0,
    shown: () => undefined,
    trouble: () => {
      const { state, nodes } = membership
      if (nodes.length < 2) return null
      if (state === 'draining') return 'draining'
      return state === 'isolated' || state === 'uncertain' ? 'cut_off' : null
    },
  }
}

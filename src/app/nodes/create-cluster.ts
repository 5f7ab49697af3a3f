// What a node adds to the service: requests for instances of other nodes go there, and instances come and go.

import type { HttpApp } from '../../http/http-app.ts'
import type { ForwardingDeps } from '../../http/forwarding/passage.ts'
import type { StandIn } from '../../core/nodes/stand-in.ts'
import type { DestinationKey, InstanceName } from '../../core/ids.ts'
import { BridgeError } from '../../core/errors.ts'
import { NotHeldError } from '../../core/nodes/hold.ts'
import type { HandOverStep } from '../../instances/hand-over.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { Arrivals } from '../../instances/service/arrivals.ts'
import type { NodeMetrics } from '../../ledger/node-metrics.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { LiveHub } from '../../live/live-hub.ts'
import type { Membership } from '../../nodes/membership/membership.ts'
import type { OwnView } from '../../nodes/peer-routes.ts'
import { isCell, takesInstances } from '../../nodes/placement/cluster.ts'
import type { Base } from '../base.ts'
import type { AccountSet } from '../create-accounts.ts'
import { hearOtherNodes } from '../live/create-live.ts'
import type { InstanceSupply } from '../running-app.ts'
import { countForwards, countStandIns } from './count-forwards.ts'
import { createCapacityWatch } from './create-capacity-watch.ts'
import { createHoldings } from './create-holdings.ts'
import type { HoldingParts } from './create-holdings.ts'
import type { NodeParts } from './create-node.ts'
import { listenForNodes } from './create-peers.ts'
import { peersOf } from './create-node-view.ts'
import { isWhole, takeFirst } from './first-takes.ts'

/** How long the request that creates an instance waits until the instance is live. */
const arrivalMs = 10_000
/** Balancers ask whether a node is ready every few seconds. Until then a node that stops goes on handing requests to others. */
const balancerMs = 5_000
/** How long a node that stops waits for others to take its instances. */
const drainMs = 60_000
const stopping = 'this node stops and takes no new instance; ask again, and another node creates it'

type Parts = {
  node: NodeParts
  accounts: Pick<AccountSet, 'instances' | 'store' | 'network' | 'pendingLogouts'>
  isBusy: (instance: InstanceName) => boolean
  hasWaiting: (instance: InstanceName) => boolean
  onHandOverStep: (step: HandOverStep) => Promise<void>
  onSettings: () => void
  onNodeUrl: (url: string) => void
  standIn: StandIn
  /** Another node has stored messages of an instance that this node holds. */
  lookForRows: (instance: InstanceName) => Promise<void>
  /** An agent has asked another node for the QR code of an instance that this node holds. */
  showCode: (instance: InstanceName, destination: DestinationKey) => void
  metrics: NodeMetrics
  live: LiveHub
}

/** What this node tells other nodes about the instances that it holds. */
type OwnViews = Readonly<Record<OwnView, () => object>>

export type Cluster = HoldingParts & {
  arrivals: Arrivals
  /** This node has stored messages of an instance in place of its owner. Best effort. */
  tellOwner(instance: InstanceName): void
  /** Whether this node serves every instance. */
  isComplete(): boolean
  /** An agent has asked this node for the QR code of an instance that another node may hold. Best effort. */
  askForCode(instance: InstanceName, destination: DestinationKey): void
  /** A tenant was changed here. Resolves when every node that answers in time goes on with the new settings. */
  tellSettings(): Promise<void>
  /** Null when this process runs alone. */
  forwarding: ForwardingDeps | null
  /** `server` is the one with the public routes. */
  supply(server: HttpApp, views: OwnViews): InstanceSupply
}

export function createCluster(base: Base, parts: Parts): Cluster {
  const { node, accounts, standIn, metrics, live } = parts
  const { link, membership } = node
  const held = createHoldings(base, parts)
  const forwarding = link && {
    ...{ owners: held.owners, forwarded: link.forwarded, clock: systemClock },
    peers: countForwards(link.peers, metrics),
    standIn: countStandIns(standIn, metrics),
  }
  const lookForRows = (instance: InstanceName) => {
    parts.lookForRows(instance).catch((err: unknown) => {
      base.log.warn({ err, instance }, 'messages that another node stored are looked for again in 5 s')
    })
  }
  const tellOwner = (instance: InstanceName) => {
    void held.owners.ownerOf(instance).then((owner) => {
      if (owner === 'here') lookForRows(instance)
      else if (typeof owner === 'object') void node.peers.drain(owner, instance)
    }, ignoreRejection)
  }
  const askForCode = (instance: InstanceName, destination: DestinationKey) => {
    void held.owners.ownerOf(instance).then((owner) => {
      if (typeof owner === 'object') void link?.peers.showCode(owner, instance, destination)
    }, ignoreRejection)
  }
  const tellSettings = async () => {
    if (link) await Promise.all(peersOf(membership).map((peer) => link.peers.settingsChanged(peer)))
  }
  if (link) {
    const epochOf = (instance: InstanceName) => held.holdings.standingOf(instance).epoch || undefined
    hearOtherNodes(base, live, { peers: link.peers, peersNow: () => peersOf(membership), epochOf })
  }
  // The stack of the base is complete by the time this process listens.
  const listening = base.stack.use(new AsyncDisposableStack())
  const listenTo = async (server: HttpApp, views: OwnViews) => {
    if (!link) return
    await server.ready()
    const url = await listenForNodes({ ...base, stack: listening }, link, {
      self: () => membership.id ?? '',
      standing: held.standing,
      events: { join: (sink) => live.joinNode(sink) },
      calls: {
        renewed: () => membership.renewed(),
        look: () => {
          membership.lookNow()
        },
        drain: lookForRows,
        settingsChanged: parts.onSettings,
        views,
        showCode: parts.showCode,
      },
      serve: (request, response) => {
        server.routing(request, response)
      },
      cells: { urlOf: (key) => node.cells?.urlOf(key) },
    })
    parts.onNodeUrl(url)
  }
  const capacity = link && createCapacityWatch(base, node)
  const supply = (server: HttpApp, views: OwnViews): InstanceSupply => ({
    prepare: () => listenTo(server, views),
    take: () => {
      node.relay.open()
      return takeFirst({ ...held, membership, isAlone: link === null, clock: systemClock })
    },
    boot: async () => {
      held.rebalancer.start()
      capacity?.start()
      held.holdings.begin()
      await accounts.pendingLogouts.start()
    },
    giveAway: () => giveAway(base, node),
    hasPeers: () => membership.hasServingPeers,
    othersGoOn: () => membership.nodes.some((node) => node.id !== membership.id && takesInstances(node)),
  })
  const arrivals = createArrivals(node, held, accounts.instances)
  const isComplete = () => isWhole({ ...held, membership })
  return { ...held, forwarding, supply, tellOwner, tellSettings, askForCode, isComplete, arrivals }
}

/** An instance that is created here is assigned to this node in the same commit, so that it comes like every other one. */
function createArrivals({ membership }: NodeParts, { holdings }: HoldingParts, instances: InstanceRegistry): Arrivals {
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

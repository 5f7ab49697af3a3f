// What a node adds to the service: requests for instances of other nodes go there, and instances come and go.

import type { HttpApp } from '../../http/http-app.ts'
import type { ForwardingDeps } from '../../http/forwarding/passage.ts'
import type { StandIn } from '../../core/nodes/stand-in.ts'
import type { DestinationKey, InstanceName } from '../../core/ids.ts'
import type { HandOverStep } from '../../instances/hand-over.ts'
import type { Arrivals } from '../../instances/service/arrivals.ts'
import type { NodeMetrics } from '../../ledger/node-metrics.ts'
import { systemClock } from '../../lib/clock.ts'
import type { LiveHub } from '../../live/live-hub.ts'
import type { OwnView } from '../../nodes/peer-routes.ts'
import type { Base } from '../base.ts'
import type { AccountSet } from '../create-accounts.ts'
import { hearOtherNodes } from '../live/create-live.ts'
import type { InstanceSupply } from '../running-app.ts'
import { countForwards, countStandIns } from './count-forwards.ts'
import { createHoldings } from './create-holdings.ts'
import type { HoldingParts } from './create-holdings.ts'
import type { NodeParts } from './create-node.ts'
import { listenForNodes } from './create-peers.ts'
import { peersOf } from './create-node-view.ts'
import { createArrivals, createSupply } from './create-supply.ts'
import { isWhole } from './first-takes.ts'
import { tellNodes } from './tell-nodes.ts'
import type { NodeNews } from './tell-nodes.ts'

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

export type Cluster = HoldingParts &
  NodeNews & {
    arrivals: Arrivals
    /** Whether this node serves every instance. */
    isComplete(): boolean
    /** Null when this process runs alone. */
    forwarding: ForwardingDeps | null
    /** `server` is the one with the public routes. */
    supply(server: HttpApp, views: OwnViews): InstanceSupply
  }

export function createCluster(base: Base, parts: Parts): Cluster {
  const { node, accounts } = parts
  const { membership } = node
  const held = createHoldings(base, parts)
  const lookForRows = (instance: InstanceName) => {
    parts.lookForRows(instance).catch((err: unknown) => {
      base.log.warn({ err, instance }, 'messages that another node stored are looked for again in 5 s')
    })
  }
  hearEvents(base, parts, held)
  // The stack of the base is complete by the time this process listens.
  const listening = { ...base, stack: base.stack.use(new AsyncDisposableStack()) }
  return {
    ...held,
    ...tellNodes({ node, owners: held.owners, lookForRows }),
    forwarding: createForwarding(parts, held),
    supply: (server, views) =>
      createSupply(base, { node, held, pendingLogouts: accounts.pendingLogouts }, () =>
        answerNodes(listening, { ...parts, lookForRows, held, server, views }),
      ),
    isComplete: () => isWhole({ ...held, membership }),
    arrivals: createArrivals(node, held, accounts.instances),
  }
}

function createForwarding({ node, standIn, metrics }: Parts, { owners }: HoldingParts): ForwardingDeps | null {
  const { link } = node
  if (!link) return null
  const peers = countForwards(link.peers, metrics)
  return { owners, forwarded: link.forwarded, clock: systemClock, peers, standIn: countStandIns(standIn, metrics) }
}

/** Clients of this node hear what happens at other nodes. */
function hearEvents(base: Base, { node: { link, membership }, live }: Parts, { holdings }: HoldingParts): void {
  if (!link) return
  const epochOf = (instance: InstanceName) => holdings.standingOf(instance).epoch || undefined
  hearOtherNodes(base, live, { peers: link.peers, peersNow: () => peersOf(membership), epochOf })
}

type Answering = Pick<Parts, 'node' | 'live' | 'onSettings' | 'onNodeUrl' | 'showCode'> & {
  lookForRows: (instance: InstanceName) => void
  held: HoldingParts
  server: HttpApp
  views: OwnViews
}

/** Resolves when other nodes reach this one. */
async function answerNodes(base: Base, parts: Answering): Promise<void> {
  const { node, held, live, server, views } = parts
  const { link, membership, cells } = node
  if (!link) return
  await server.ready()
  const url = await listenForNodes(base, link, {
    self: () => membership.id ?? '',
    standing: held.standing,
    events: { join: (sink) => live.joinNode(sink) },
    calls: {
      renewed: () => membership.renewed(),
      look: () => {
        membership.lookNow()
      },
      drain: parts.lookForRows,
      settingsChanged: parts.onSettings,
      views,
      showCode: parts.showCode,
    },
    serve: (request, response) => {
      server.routing(request, response)
    },
    cells: { urlOf: (key) => cells?.urlOf(key) },
  })
  parts.onNodeUrl(url)
}

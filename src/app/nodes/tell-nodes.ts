// What this node tells other nodes, so that they need not find it out by themselves. All of it is best effort.

import type { DestinationKey, InstanceName } from '../../core/ids.ts'
import type { OwnerAnswer } from '../../core/nodes/owners.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { RouteTable } from '../../nodes/route-table.ts'
import type { NodeParts } from './create-node.ts'
import { peersOf } from './create-node-view.ts'

type Deps = {
  node: Pick<NodeParts, 'link' | 'membership' | 'peers'>
  owners: Pick<RouteTable, 'ownerOf'>
  lookForRows: (instance: InstanceName) => void
}

export type NodeNews = {
  /** This node has stored messages of an instance in place of its owner. */
  tellOwner(instance: InstanceName): void
  /** An agent has asked this node for the QR code of an instance that another node may hold. */
  askForCode(instance: InstanceName, destination: DestinationKey): void
  /** A tenant was changed here. Resolves when every node that answers in time goes on with the new settings. */
  tellSettings(): Promise<void>
}

export function tellNodes({ node, owners, lookForRows }: Deps): NodeNews {
  const { link, membership, peers } = node
  const toOwner = (instance: InstanceName, tell: (owner: OwnerAnswer) => void) => {
    void owners.ownerOf(instance).then(tell, ignoreRejection)
  }
  return {
    tellOwner: (instance) => {
      toOwner(instance, (owner) => {
        if (owner === 'here') lookForRows(instance)
        else if (typeof owner === 'object') void peers.drain(owner, instance)
      })
    },
    askForCode: (instance, destination) => {
      toOwner(instance, (owner) => {
        if (typeof owner === 'object') void link?.peers.showCode(owner, instance, destination)
      })
    },
    tellSettings: async () => {
      if (link) await Promise.all(peersOf(membership).map((peer) => link.peers.settingsChanged(peer)))
    },
  }
}

// Creates what operators see of the nodes.

import type { ClusterView, ListedNode } from '../../core/nodes/cluster-view.ts'
import type { NewNode } from '../../core/nodes/node.ts'
import type { Clock } from '../../lib/clock.ts'
import { ClusterReader } from '../../nodes/cluster-reader.ts'
import type { Membership } from '../../nodes/membership/membership.ts'
import { shownOwnerName } from '../../nodes/owner-name.ts'
import type { SetBackAlarm } from '../../nodes/set-back-alarm.ts'
import type { Database } from '../../storage/database.ts'
import { ClusterStore } from '../../storage/stores/nodes/cluster-store.ts'
import type { NodeView } from './node-view.ts'

type Parts = {
  membership: Pick<Membership, 'nodes'>
  node: Pick<NewNode, 'name'>
  setBack: Pick<SetBackAlarm, 'at'>
  database: Database
  clock: Clock
}

export function createClusterView(parts: Parts): Pick<NodeView, 'shown' | 'freshen' | 'cluster'> {
  const { membership, node, setBack, database, clock } = parts
  const reader = new ClusterReader({ membership, ownName: node.name, reads: new ClusterStore(database), clock })
  return {
    cluster: reader,
    freshen: () => reader.freshen(),
    shown: () => {
      const { nodes, quarantined } = reader.last
      return { nodes, quarantined, setBackAt: setBack.at }
    },
  }
}

type Process = { node: NewNode; clock: Clock; instances: { counts(): { total: number } } }

/** One process, which holds everything. */
export function createLoneView({ node, clock, instances }: Process): ClusterView {
  const { id, name, build, protocol, capacity } = node
  const self: Omit<ListedNode, 'held'> = {
    ...{ id, name: shownOwnerName(name), build, protocol, capacity, joinedAt: clock.now() },
    ...{ state: 'active', isCell: false, isSelf: true, settingsDiffer: false },
  }
  return {
    read: () =>
      Promise.resolve({
        nodes: [{ ...self, held: instances.counts().total }],
        ...{ free: 0, quarantined: [], moves: [] },
      }),
  }
}

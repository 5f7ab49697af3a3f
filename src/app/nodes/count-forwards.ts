// Counts what a node hands to other nodes, and what it stores in their place, for the metrics.

import type { StandIn } from '../../core/nodes/stand-in.ts'
import type { ForwardingDeps } from '../../http/forwarding/passage.ts'
import type { NodeMetrics } from '../../ledger/node-metrics.ts'

type Peers = ForwardingDeps['peers']

export function countForwards(peers: Peers, metrics: NodeMetrics): Peers {
  const count = async <Answer extends object>(asked: Promise<Answer>): Promise<Answer> => {
    try {
      const answer = await asked
      metrics.forwarded('refusal' in answer ? 'refused' : 'answered')
      return answer
    } catch (error) {
      metrics.forwarded('failed')
      throw error
    }
  }
  return {
    forward: (...request) => count(peers.forward(...request)),
    forwardCallback: (...request) => count(peers.forwardCallback(...request)),
  }
}

export function countStandIns(standIn: StandIn, metrics: NodeMetrics): StandIn {
  return {
    store: async (callback) => {
      const answer = await standIn.store(callback)
      metrics.stoodIn(answer.status)
      return answer
    },
  }
}

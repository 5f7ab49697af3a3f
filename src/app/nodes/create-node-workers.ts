// Creates the background work of a node: old nodes and old moves are removed.

import { firstSweepMs, Ticker } from '../../lib/ticker.ts'
import type { Base } from '../base.ts'
import type { NodeParts } from './create-node.ts'

const sweepMs = 3_600_000
/** How long operators can look up which nodes there were and what moved. */
const keepMs = 7 * 86_400_000

type Parts = {
  membership: Pick<NodeParts['membership'], 'databaseNow'>
  tables: { nodes: Pick<NodeParts['tables']['nodes'], 'prune'> }
}

/** Null: this process is no node. */
export function createNodeWorkers({ clock, log }: Pick<Base, 'clock' | 'log'>, node: Parts | null): Ticker[] {
  if (!node) return []
  const work = () => node.tables.nodes.prune(node.membership.databaseNow() - keepMs)
  return [new Ticker({ name: 'node-prune', everyMs: sweepMs, firstMs: firstSweepMs, work, clock, log })]
}

// What this process tells other nodes about itself when it joins.

import { createHmac, randomBytes } from 'node:crypto'
import type { Config } from '../../config/config.ts'
import type { NewNode } from '../../core/nodes/node.ts'
import { newOwnerName } from '../../nodes/owner-name.ts'

/** Grows with every new duty of a node towards others. */
const protocol = 1

export function newNode(config: Config, build: string): NewNode {
  const { url, capacity } = config.nodes
  return {
    id: randomBytes(16).toString('hex'),
    name: newOwnerName(),
    address: url ?? '',
    build,
    protocol,
    settingsHash: hashSettings(config),
    capacity,
  }
}

/** Equal on nodes that treat a message in the same way. Keyed, because there are secrets among the settings. */
function hashSettings({ nodes, inbound, outbound, sync, history, lifecycle, downstream }: Config): string {
  // The grace of a stop is another one in a cell, and changes no message.
  const shared = { inbound, outbound, sync, history, lifecycle: { ...lifecycle, shutdownGrace: 0 }, downstream }
  return createHmac('sha256', nodes.secret).update(JSON.stringify(shared)).digest('hex').slice(0, 16)
}

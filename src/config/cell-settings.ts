// The settings of a cell: those of the node that starts it, except for the addresses and its share of the work.

import type { Config } from './config.ts'

/** A cell holds few instances. The connections of all processes together must stay below the limit of PostgreSQL. */
const mostConnections = 4

/** Only the node that started the cell reaches its listeners, so that no port is needed that others can reach. */
const loopback = { host: '127.0.0.1', port: 0 }

/** `address` is where other nodes reach the cell. */
export function settingsOfCell(config: Config, address: string): Config {
  const { http, storage, nodes, lifecycle } = config
  return {
    ...config,
    http: { ...http, ...loopback },
    storage: { ...storage, connections: Math.min(storage.connections, mostConnections) },
    nodes: { ...nodes, listen: loopback, url: address, capacity: 0 },
    // Another cell takes over what it holds, so subscribers have nothing to prepare for.
    lifecycle: { ...lifecycle, shutdownGrace: 0 },
  }
}

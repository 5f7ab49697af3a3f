// The settings of several nodes on one PostgreSQL depend on each other and on the database.

import type { DatabaseLocation } from '../core/database-location.ts'

type Listen = { host: string; port: number }
type Values = {
  http: { port: number }
  storage: { database: DatabaseLocation }
  nodes: { listen: Listen | null; url: string | null; secret: string }
}

/** Addresses of a listener that stand for every address of the machine. */
const anyAddress = ['0.0.0.0', '::']

/** Each problem says what to do. */
export function findNodeProblems({ http, storage, nodes: { listen, url, secret } }: Values): string[] {
  if (listen === null) {
    const advice = 'set SERVICE_NODE_LISTEN as well, or remove it'
    return url === null ? [] : [`SERVICE_NODE_URL=${url}: has no effect without SERVICE_NODE_LISTEN; ${advice}`]
  }
  const given = `SERVICE_NODE_LISTEN=${formatAddress(listen)}`
  const problems: string[] = []
  if (storage.database.engine === 'sqlite') {
    problems.push(
      `${given}: needs PostgreSQL, because an SQLite file belongs to one process; ` +
        'set DATABASE_URL to postgres://…, or remove SERVICE_NODE_LISTEN',
    )
  }
  if (secret === '') {
    problems.push(
      `${given}: needs SERVICE_NODE_SECRET, the same on every node; "openssl rand -base64 32" makes one, ` +
        'which must stay secret',
    )
  }
  if (url === null && anyAddress.includes(listen.host)) {
    problems.push(
      `${given}: is no address that other nodes can reach; set SERVICE_NODE_URL to one, such as http://10.0.0.5:${listen.port}`,
    )
  }
  if (listen.port === http.port) {
    problems.push(`${given}: has the port of PORT, which serves the public API; use another one`)
  }
  return problems
}

/** Where other nodes reach a listener of this address. */
export function nodeUrlOf(listen: Listen | null): string | null {
  return listen && `http://${formatAddress(listen)}`
}

function formatAddress({ host, port }: Listen): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

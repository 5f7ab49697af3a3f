// Subscribers of the lifecycle benchmark: a server each. The first may be dead, the second slow; the others take times.

import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serveParent } from './child.ts'

const slowMs = 5000

let troubled = false
let latencies: number[] = []
const servers: Server[] = []

function subscriber(index: number): Server {
  return createServer((request, response) => {
    const arrivedAt = performance.timeOrigin + performance.now()
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      if (troubled && index === 0) return
      if (troubled && index === 1) setTimeout(() => response.end(), slowMs)
      else response.end()
      const { occurred_at } = JSON.parse(body) as { occurred_at: string }
      if (index > 1) latencies.push(arrivedAt - Date.parse(occurred_at))
    })
  })
}

const desk = {
  open: async (count: number): Promise<string[]> => {
    for (let index = 0; index < count; index++) {
      const server = subscriber(index)
      servers.push(server)
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    }
    return servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`)
  },
  begin: (withTrouble: boolean): void => {
    troubled = withTrouble
    latencies = []
  },
  /** What the healthy ones have seen since. */
  latencies: (): number[] => latencies,
}

export type SubscribersDesk = typeof desk

serveParent(desk)

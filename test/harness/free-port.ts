// Finds a port for a process that must be told its port before it starts.

import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

/** The processes that were told these ports may not listen yet. */
const given = new Set<number>()

export async function freePort(): Promise<number> {
  for (;;) {
    const port = await probePort()
    if (given.has(port)) continue
    given.add(port)
    return port
  }
}

function probePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => {
        resolve(port)
      })
    })
  })
}

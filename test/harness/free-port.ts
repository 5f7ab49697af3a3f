// Finds a port for a process that must be told its port before it starts.

import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Linux takes the ports of outgoing connections and of `listen(0)` from 32768 on. None of them takes a port that was given here. */
const lowest = 10_240
const beyond = 32_768

/** The processes that were told these ports may not listen yet. */
const given = new Set<number>()

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(lowest, beyond)
    if (given.has(port) || !(await isFree(port))) continue
    given.add(port)
    return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false)
      else reject(error)
    })
    probe.listen(port, '127.0.0.1', () => {
      probe.close(() => {
        resolve(true)
      })
    })
  })
}

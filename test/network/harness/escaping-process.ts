// A process in which an error escapes, from a session or from other code; it ends with 0 when the rest goes on.

import { isolateFaults, runIsolated } from '../../../src/network/connection/fault-isolation.ts'

const escaped: string[] = []
const owner = {
  onEscaped(fault: unknown) {
    escaped.push(String(fault))
  },
}

const fence = isolateFaults()
const misbehave = () => {
  setTimeout(() => {
    void Promise.reject(new Error('rejected'))
  }, 1)
  setTimeout(() => {
    throw new Error('thrown')
  }, 2)
}
if (process.argv[2] === 'session') runIsolated(owner, misbehave)
else misbehave()
await new Promise((resolve) => setTimeout(resolve, 100))
fence[Symbol.dispose]()
process.stdout.write(`${escaped.join()}\n`)
process.exitCode = escaped.length === 2 ? 0 : 1

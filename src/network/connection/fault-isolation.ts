// Keeps a fault inside the session it happened in: what the library lets escape is traced to its session, not to the process.
//
// Everything a session starts runs in an asynchronous context of its own; a rejection nobody handles and an exception
// nobody catches are raised in that context. Faults of anybody else are left as they are.

import { AsyncLocalStorage } from 'node:async_hooks'

export type FaultOwner = { onEscaped(fault: unknown): void }

const owners = new AsyncLocalStorage<FaultOwner>()
/** The context of nobody: what leaves a session must not drag it along. */
const outside = AsyncLocalStorage.snapshot()
const events = ['unhandledRejection', 'uncaughtException'] as const
let users = 0

export function runIsolated<Result>(owner: FaultOwner, work: () => Result): Result {
  return owners.run(owner, work)
}

export function runOutside<Result>(work: () => Result): Result {
  return outside(work)
}

/** For as long as there are sessions in this process. */
export function isolateFaults(): Disposable {
  users += 1
  if (users === 1) for (const event of events) process.on(event, handlers[event])
  let lowered = false
  return {
    [Symbol.dispose]() {
      if (lowered) return
      lowered = true
      users -= 1
      if (users === 0) for (const event of events) process.off(event, handlers[event])
    },
  }
}

const handlers = { unhandledRejection: hear('unhandledRejection'), uncaughtException: hear('uncaughtException') }

function hear(event: (typeof events)[number]): (fault: unknown) => void {
  return (fault) => {
    const owner = owners.getStore()
    if (owner) owner.onEscaped(fault)
    // Somebody else's fault ends the process, as it would without this listener, unless others listen too.
    else if (process.listenerCount(event) === 1) throw fault
  }
}

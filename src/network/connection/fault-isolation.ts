// Contains faults: an unhandled rejection or exception of the library ends its session, not the process.
//
// Everything that a session starts runs in an asynchronous context of its own. Node raises an unhandled rejection and an
// uncaught exception in the context where it happened, so the fault can be traced to its session. Faults that belong to no
// session still end the process.

import { AsyncLocalStorage } from 'node:async_hooks'

export type FaultOwner = { onEscaped(fault: unknown): void }

const owners = new AsyncLocalStorage<FaultOwner>()
/** The context outside of all sessions, for calls that leave a session. */
const outside = AsyncLocalStorage.snapshot()
const events = ['unhandledRejection', 'uncaughtException'] as const
let users = 0

export function runIsolated<Result>(owner: FaultOwner, work: () => Result): Result {
  return owners.run(owner, work)
}

export function runOutside<Result>(work: () => Result): Result {
  return outside(work)
}

/** Listens until it is disposed. Several networks in one process share the listeners. */
export function isolateFaults(): Disposable {
  users += 1
  if (users === 1) for (const event of events) process.on(event, handlers[event])
  let isDisposed = false
  return {
    [Symbol.dispose]() {
      if (isDisposed) return
      isDisposed = true
      users -= 1
      if (users === 0) for (const event of events) process.off(event, handlers[event])
    },
  }
}

const handlers = {
  unhandledRejection: handlerOf('unhandledRejection'),
  uncaughtException: handlerOf('uncaughtException'),
}

function handlerOf(event: (typeof events)[number]): (fault: unknown) => void {
  return (fault) => {
    const owner = owners.getStore()
    if (owner) owner.onEscaped(fault)
    // A fault outside of all sessions ends the process, as it would without this listener.
    else if (process.listenerCount(event) === 1) throw fault
  }
}

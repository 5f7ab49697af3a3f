// The stop signals of the process: the first asks for an orderly stop, the second ends the process.

import type { EventEmitter } from 'node:events'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'

/** Ctrl+C and many supervisors send a signal to every process, and npm passes its own on: the service gets it twice. */
const echoMs = 2000

type Deps = {
  log: Log
  clock: Pick<Clock, 'monotonic'>
  /** The process. */
  events: EventEmitter
  /** Ends the process at once. */
  end: () => void
}

/** Resolves at the first stop signal. The second ends the process at once, unless it is an echo of the first. */
export function firstStopSignal({ log, clock, events, end }: Deps): Promise<undefined> {
  return new Promise((resolve) => {
    let isStopping = false
    let first: { signal: string; at: number } | undefined
    const stop = (reason: string) => {
      if (isStopping) return
      isStopping = true
      log.info({ reason }, 'stopping; a second signal ends at once')
      resolve(undefined)
    }
    const hear = (signal: string) => {
      const at = clock.monotonic()
      if (first !== undefined && (signal !== first.signal || at - first.at >= echoMs)) end()
      first ??= { signal, at }
      stop(signal)
    }
    events.on('SIGTERM', hear).on('SIGINT', hear)
    // From the launcher. A parent may also end during a stop that a signal has begun: this event never counts as a signal.
    events.on('parentEnded', () => {
      stop('the process that started the service has ended')
    })
  })
}

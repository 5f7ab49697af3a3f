// The stop signals of the process: the first asks for an orderly stop, the second ends the process.

import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

/** Ctrl+C and many supervisors send a signal to every process, and npm passes its own on: the service gets it twice. */
const echoMs = 2000

type Deps = { log: Log; clock: Pick<Clock, 'monotonic'> }

/** Resolves at the first stop signal. The second ends the process at once, unless it is an echo of the first. */
export function firstStopSignal({ log, clock }: Deps): Promise<undefined> {
  return new Promise((resolve) => {
    let first: { signal: string; at: number } | undefined
    const hear = (signal: string) => {
      if (first === undefined) {
        first = { signal, at: clock.monotonic() }
        log.info({ signal }, 'stopping; a second signal ends at once')
        resolve(undefined)
      } else if (signal !== first.signal || clock.monotonic() - first.at >= echoMs) {
        process.exit(1)
      }
    }
    process.on('SIGTERM', hear).on('SIGINT', hear)
  })
}

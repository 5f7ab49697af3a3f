// The stop signals of the process: the first asks for an orderly stop, the second ends the process.

import type { Log } from './log.ts'

/** Resolves at the first stop signal; the second ends the process at once. */
export function firstStopSignal(log: Log): Promise<undefined> {
  return new Promise((resolve) => {
    let stopping = false
    const hear = (signal: string) => {
      if (stopping) process.exit(1)
      stopping = true
      log.info({ signal }, 'stopping; a second signal ends at once')
      resolve(undefined)
    }
    process.on('SIGTERM', hear).on('SIGINT', hear)
  })
}

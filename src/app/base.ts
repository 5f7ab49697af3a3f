// What every set of parts is created with.

import type { Config } from '../config/config.ts'
import type { BuildInfo } from '../http/routes/operations.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'

export type Base = {
  config: Config
  clock: Clock
  log: Log
  build: BuildInfo
  /** Disposes the parts in reverse order. */
  stack: AsyncDisposableStack
}

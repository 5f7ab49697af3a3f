// What every set of parts is created with.

import type { Config } from '../config/config.ts'
import type { NewNode } from '../core/nodes/node.ts'
import type { BuildInfo } from '../http/routes/operations.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'

export type Base = {
  config: Config
  clock: Clock
  log: Log
  build: BuildInfo
  /** This process as other processes and operators know it. */
  node: NewNode
  /** Disposes the parts in reverse order. */
  stack: AsyncDisposableStack
}

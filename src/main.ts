// The process: reads the configuration, runs the application, and ends with a signal or a reason to give up.

import { flushCompileCache } from 'node:module'
import { createApp } from './app/app.ts'
import { settingsOfCell } from './config/cell-settings.ts'
import { describeConfig, loadConfig, unknownVariables } from './config/config.ts'
import { systemClock } from './lib/clock.ts'
import { createLog } from './lib/log.ts'
import { clearScratch } from './lib/scratch.ts'
import { StartError } from './lib/start-error.ts'
import { firstStopSignal } from './lib/process/stop-signal.ts'
import { readCell } from './nodes/cells/this-cell.ts'

async function main(): Promise<void> {
  const cell = readCell(process)
  const settings = loadConfig(process.env)
  const config = cell ? settingsOfCell(settings, cell.address) : settings
  const format = config.log.format || (process.stdout.isTTY ? 'pretty' : 'json')
  // The node that started a cell writes its lines.
  const log = createLog({ level: config.log.level, format: cell ? 'json' : format })
  log.info({ settings: describeConfig(process.env) }, 'configuration')
  for (const variable of unknownVariables(process.env)) log.warn({ variable }, 'unknown variable, is it misspelt?')
  const stopping = new AbortController()
  const end = () => process.exit(1)
  const stopped = firstStopSignal({ log, clock: systemClock, events: process, end }).finally(() => {
    stopping.abort()
  })
  cell?.stopWithParent()
  await clearScratch()
  const asCell = cell && { onNodeUrl: cell.tellUrl }
  const overrides = { log, stopping: stopping.signal, cellProgram: import.meta.filename, ...asCell }
  await using app = await createApp(config, overrides).catch((error: unknown) => {
    if (stopping.signal.aborted) return undefined
    throw error
  })
  if (app === undefined) return
  // The start may wait for long, for example for its port. The lease can be lost meanwhile.
  const served = app.start().then(() => {
    // Node writes what it has compiled when it ends in order. A process that is killed would keep nothing.
    flushCompileCache()
    return app.ended
  })
  const reason = await Promise.race([stopped, app.ended, served])
  if (reason instanceof Error) throw reason
  await app.stop()
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    // A reason that a person can remove is a sentence. Anything else needs its stack.
    console.error(error instanceof StartError ? error.message : error)
    process.exit(1)
  },
)

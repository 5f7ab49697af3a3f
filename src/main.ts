// The process: reads the configuration, runs the application, and ends with a signal or a reason to give up.

import { createApp } from './app/app.ts'
import { ConfigError, describeConfig, loadConfig, unknownVariables } from './config/config.ts'
import { createLog } from './lib/log.ts'
import { clearScratch } from './lib/scratch.ts'
import { firstStopSignal } from './lib/stop-signal.ts'

async function main(): Promise<void> {
  const config = loadConfig(process.env)
  const log = createLog({
    level: config.log.level,
    format: config.log.format || (process.stdout.isTTY ? 'pretty' : 'json'),
  })
  log.info({ settings: describeConfig(process.env) }, 'configuration')
  for (const variable of unknownVariables(process.env)) log.warn({ variable }, 'unknown variable, is it misspelt?')
  const stopped = firstStopSignal(log)
  await clearScratch()
  await using app = await createApp(config, { log })
  // The start may wait for long, for example for its port. The lease can be lost meanwhile.
  const reason = await Promise.race([stopped, app.ended, app.start().then(() => app.ended)])
  if (reason instanceof Error) throw reason
  await app.stop()
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    // A mistake in the configuration needs no stack; anything else does.
    console.error(error instanceof ConfigError ? error.message : error)
    process.exit(1)
  },
)

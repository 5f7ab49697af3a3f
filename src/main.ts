// The process: environment → configuration → application, until a signal or a reason to give up.

import { createApp } from './app.ts'
import { ConfigError, describeConfig, loadConfig, unknownVariables } from './config.ts'
import { createLog } from './lib/log.ts'
import type { Log } from './lib/log.ts'

async function main(): Promise<void> {
  const config = loadConfig(process.env)
  const log = createLog({
    level: config.log.level,
    format: config.log.format || (process.stdout.isTTY ? 'pretty' : 'json'),
  })
  log.info({ settings: describeConfig(process.env) }, 'configuration')
  for (const variable of unknownVariables(process.env)) log.warn({ variable }, 'unknown variable, is it misspelt?')
  const stopped = firstSignal(log)
  await using app = await createApp(config, { log })
  const reason = await Promise.race([stopped, app.start().then(() => app.ended)])
  if (reason instanceof Error) throw reason
}

/** Resolves at the first stop signal; the second ends the process at once. */
function firstSignal(log: Log): Promise<undefined> {
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

main().then(
  () => process.exit(0),
  (error: unknown) => {
    const shown = error instanceof ConfigError ? error.message : error
    process.stderr.write(`${shown instanceof Error ? (shown.stack ?? shown.message) : String(shown)}\n`)
    process.exit(1)
  },
)

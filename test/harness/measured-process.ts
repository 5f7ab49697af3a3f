// The service as a process that logs its memory after a full collection, now and then.

import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createApp } from '../../src/app/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'

const pauseMs = 500
/** The collections take this part of the time at most: on a busy machine a collection takes long. */
const share = 0.1

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const log = createLog({ level: 'info', format: 'json' })
const app = await createApp(loadConfig(process.env), { log, clock: systemClock })
await app.start()
for (;;) {
  const began = performance.now()
  collect()
  const { heapUsed, external, rss } = process.memoryUsage()
  log.info({ used: heapUsed + external, rss }, 'memory')
  await pause(Math.max(pauseMs, (performance.now() - began) / share))
}

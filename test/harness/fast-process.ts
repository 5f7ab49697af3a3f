// The service as a process whose clock runs ten times as fast: a second in which it is stopped is ten seconds for it.

import { createApp } from '../../src/app/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/lib/log.ts'
import { FastClock } from './fast-clock.ts'

const log = createLog({ level: 'info', format: 'json' })
const app = await createApp(loadConfig(process.env), { log, clock: new FastClock(10) })
await app.start()

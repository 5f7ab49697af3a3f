// The service as a process that stands still at one step of a send, until it is killed.

import { createApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import { createLog } from '../../src/lib/log.ts'

const stopAt = process.argv[2]
const log = createLog({ level: 'info', format: 'json' })
const app = await createApp(loadConfig(process.env), {
  log,
  onSendStep: (step) => {
    if (step !== stopAt) return Promise.resolve()
    log.info({ step }, 'standing still')
    return new Promise(() => undefined)
  },
})
await app.start()

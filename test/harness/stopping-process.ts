// The service as a process that stands still at one step of a send or of a hand-over, the n-th time it comes there, until it is
// killed.

import { createApp } from '../../src/app/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/lib/log.ts'

const [, , stopAt, nth = '1'] = process.argv
const log = createLog({ level: 'info', format: 'json' })
let left = Number(nth)
const onStep = (step: string): Promise<void> => {
  if (step !== stopAt || --left > 0) return Promise.resolve()
  log.info({ step }, 'standing still')
  return new Promise(() => undefined)
}
const app = await createApp(loadConfig(process.env), { log, onSendStep: onStep, onHandOverStep: onStep })
await app.start()

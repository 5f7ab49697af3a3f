// The service as it ships, on a database that is filled already; it connects its accounts when it is told to start.

import { createApp } from '../src/app/app.ts'
import { loadConfig } from '../src/config/config.ts'
import { serveParent } from './child.ts'
import { loopDelayP99Ms, ownCpuMs, ownMemory, peakResidentKb, watchLoop, watchResident } from './own-use.ts'

const app = await createApp(loadConfig(process.env))

const desk = {
  memory: ownMemory,
  cpuMs: ownCpuMs,
  watchResident,
  peakResidentKb,
  watchLoop,
  loopDelayP99Ms,
  start: async () => {
    await app.start()
    return app.url
  },
}

export type OursDesk = typeof desk

serveParent(desk, () => app[Symbol.asyncDispose]())

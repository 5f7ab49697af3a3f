// Creates the jobs and the use cases that start them.

import type { People } from '../../bridge/people/people.ts'
import { HistoryImports } from '../../history/jobs/history-imports.ts'
import type { ImportRunner } from '../../history/jobs/import-runner.ts'
import { Jobs } from '../../history/jobs/jobs.ts'
import { createRowIds } from '../../lib/row-ids.ts'
import { firstSweepMs, Ticker } from '../../lib/ticker.ts'
import type { Database } from '../../storage/database.ts'
import { HistoryStore } from '../../storage/stores/history/history-store.ts'
import { JobStore } from '../../storage/stores/history/job-store.ts'
import { MessageMapStore } from '../../storage/stores/messages/message-map-store.ts'
import type { Base } from '../base.ts'

type Parts = {
  database: Database
  epoch: () => number
  idFloorMs: () => number
  people: People
  runner: ImportRunner
}

const sweepMs = 3_600_000
// How long operators can look up a job that has ended.
const keepJobsMs = 86_400_000

export function createJobs({ config, clock, log, stack }: Base, parts: Parts) {
  const { database, epoch, idFloorMs, people, runner } = parts
  const store = new JobStore(database, epoch)
  const isOn = config.history.enabled
  const jobs = stack.use(new Jobs({ store, runner, clock, log, newId: createRowIds(clock, idFloorMs), isOn }))
  const history = new HistoryStore(database)
  const imports = new HistoryImports({ isOn, jobs, people, history, map: new MessageMapStore(database), clock })
  const work = () => store.prune(clock.now() - keepJobsMs)
  const sweep = new Ticker({ name: 'job-sweep', everyMs: sweepMs, firstMs: firstSweepMs, work, clock, log })
  return { jobs, imports, sweep }
}

// Creates the jobs, with the part that runs each type of them.

import type { Caller } from '../../core/audit.ts'
import type { DestinationKey, InstanceName } from '../../core/ids.ts'
import type { Job } from '../../core/jobs/job.ts'
import type { LiveChanges } from '../../core/live.ts'
import type { Holds } from '../../core/nodes/hold.ts'
import { cancelJob } from '../../jobs/cancel-job.ts'
import { HelpdeskPace } from '../../jobs/helpdesk-pace.ts'
import type { JobRunners } from '../../jobs/job-runners.ts'
import { Jobs } from '../../jobs/jobs.ts'
import type { Clock } from '../../lib/clock.ts'
import { createRowIds } from '../../lib/row-ids.ts'
import { firstSweepMs, Ticker } from '../../lib/ticker.ts'
import type { Database } from '../../storage/database.ts'
import { JobStore } from '../../storage/stores/jobs/job-store.ts'
import type { Base } from '../base.ts'

type Parts = {
  database: Database
  holds: Holds
  idClock: Pick<Clock, 'now'>
  runners: JobRunners
  ownerTagOf: (instance: InstanceName) => string
  live: Pick<LiveChanges, 'jobChanged'>
}

const sweepMs = 3_600_000
// How long operators can look up a job that has ended.
const keepJobsMs = 86_400_000

// Jobs must not slow down what agents do in the helpdesk.
const requestsPerSec = 5

export function createJobs({ clock, log, stack }: Base, parts: Parts) {
  const { database, holds, idClock, runners, ownerTagOf, live } = parts
  const store = new JobStore(database, holds.holdOf, holds.nodeHold)
  const onChanged = (job: Job) => {
    live.jobChanged(job)
  }
  const jobs = stack.use(new Jobs({ store, runners, clock, log, onChanged, newId: createRowIds(idClock) }))
  const work = () => store.prune(clock.now() - keepJobsMs)
  return {
    jobs,
    cancel: (id: string, actor: Caller) => cancelJob({ jobs, ownerTagOf, clock }, id, actor),
    workers: [new Ticker({ name: 'job-sweep', everyMs: sweepMs, firstMs: firstSweepMs, work, clock, log })],
  }
}

/** The pace that all jobs at one helpdesk inbox share. `isBusy`: the helpdesk inbox has many live messages. */
export function createJobPace({ clock }: Base, isBusy: (destination: DestinationKey) => boolean): HelpdeskPace {
  return new HelpdeskPace({ clock, requestsPerSec, isBusy })
}

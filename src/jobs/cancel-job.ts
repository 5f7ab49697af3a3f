// The use case behind the endpoint that cancels a job.

import { randomUUID } from 'node:crypto'
import type { Caller } from '../core/audit.ts'
import type { InstanceName } from '../core/ids.ts'
import type { Job } from '../core/jobs/job.ts'
import type { Clock } from '../lib/clock.ts'
import type { Jobs } from './jobs.ts'

type Deps = {
  jobs: Pick<Jobs, 'cancel'>
  /** The owner of an instance. */
  ownerTagOf: (instance: InstanceName) => string
  clock: Pick<Clock, 'now'>
}

/** The audit entry is stored with the end of the job. */
export function cancelJob({ jobs, ownerTagOf, clock }: Deps, id: string, actor: Caller): Promise<Job> {
  return jobs.cancel(id, ({ instance }) => [
    {
      ...{ at: clock.now(), actor, action: 'job.cancel', instance, ownerTag: ownerTagOf(instance) },
      ...{ target: id, key: randomUUID() },
    },
  ])
}

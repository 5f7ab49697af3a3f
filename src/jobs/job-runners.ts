// Which part of the service runs which type of job.

import type { ContactsJobType } from '../core/jobs/contacts-jobs.ts'
import type { HistoryJobType } from '../core/jobs/history-jobs.ts'
import type { HistoryJob, Job, JobType } from '../core/jobs/job.ts'
import type { JobRunner } from '../core/jobs/job-runner.ts'

/** Why jobs of a type do not run. */
export type SwitchedOff = { off: string }

export type JobRunners = {
  readonly [Type in HistoryJobType]?: JobRunner<HistoryJob> | SwitchedOff
} & {
  readonly [Type in ContactsJobType]?: JobRunner<Extract<Job, { type: Type }>> | SwitchedOff
}

export function runnerFor(runners: JobRunners, type: JobType): JobRunner<Job> | SwitchedOff {
  return runners[type] ?? { off: `the service does not run jobs of the type ${type}` }
}

// Jobs on any node. A job that has not ended is shown by the node that runs it: only that one knows its progress. If that node does
// not answer, the job is shown as it is stored.

import type { Static } from 'typebox'
import type { InstanceName } from '../../core/ids.ts'
import type { Job } from '../../core/jobs/job.ts'
import { preferTold } from '../told-rows.ts'
import type { ToldRows } from '../told-rows.ts'
import { toJobBody } from './job-view.ts'
import type { JobBody } from './job-view.ts'

export type JobReaderDeps = {
  jobs: {
    get: (id: string) => Promise<Job>
    list: (instance?: InstanceName) => Promise<Job[]>
    /** Those of the instances that this node holds. */
    unfinished: () => Job[]
  }
  /** What the other nodes answer that answer in time: the jobs that they have not ended. */
  readOthers: () => Promise<unknown[]>
}

type JobRow = Static<typeof JobBody>

/** Newest first. */
export async function readJobs({ jobs, readOthers }: JobReaderDeps, instance?: InstanceName): Promise<JobRow[]> {
  const told = toldBy(await readOthers())
  return (await jobs.list(instance)).map((job) => told(toJobBody(job)))
}

/** Throws SERVICE_JOB_NOT_FOUND. */
export async function readJob({ jobs, readOthers }: JobReaderDeps, id: string): Promise<JobRow> {
  const told = toldBy(await readOthers())
  return told(toJobBody(await jobs.get(id)))
}

/** What this node tells another one. */
export function readOwnJobs({ jobs }: Pick<JobReaderDeps, 'jobs'>): ToldRows<JobRow> {
  return { rows: jobs.unfinished().map((job) => toJobBody(job)) }
}

/** Asked before the database: a job that is shown as ended has ended for the node that runs it, and another one may be added. */
function toldBy(answers: readonly unknown[]): (stored: JobRow) => JobRow {
  return preferTold<JobRow>(answers, ({ id }) => id)
}

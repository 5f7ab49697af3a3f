// The table of jobs.

import type { InstanceName } from '../../core/ids.ts'
import type { JobStatus, JobType } from '../../core/jobs/job.ts'

export type JobTable = {
  id: string
  type: JobType
  instance: InstanceName
  status: JobStatus
  /** What the job is asked for, as JSON. */
  params: string
  created_at: number
  started_at: number | null
  ended_at: number | null
  error: string | null
  /** The last progress as JSON; null before the end. */
  progress: string | null
  /** The result as JSON; null when the job did not complete. */
  result: string | null
}

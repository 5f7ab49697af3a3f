// Jobs: work that takes long, survives a restart and can be watched and cancelled.

import type { InstanceName } from '../ids.ts'
import { contactsJobTypes, noContactsProgress } from './contacts-jobs.ts'
import type { ContactsJobKinds } from './contacts-jobs.ts'
import { historyJobTypes, noImportProgress } from './history-jobs.ts'
import type { HistoryJobKind, HistoryJobType } from './history-jobs.ts'

export const jobTypes = [...historyJobTypes, ...contactsJobTypes] as const
export type JobType = (typeof jobTypes)[number]

/** What each type of job is asked for, what it tells while it runs, and what became of it. */
type JobKinds = Record<HistoryJobType, HistoryJobKind> & ContactsJobKinds

export const jobStatuses = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const
export type JobStatus = (typeof jobStatuses)[number]

type JobFacts = {
  id: string
  instance: InstanceName
  status: JobStatus
  createdAt: number
  startedAt: number | null
  endedAt: number | null
  /** Why the job failed. */
  error: string | null
}

/** A job of one of these types. */
export type JobOf<T extends JobType> = {
  [Each in T]: JobFacts & {
    type: Each
    params: JobKinds[Each]['params']
    progress: JobKinds[Each]['progress']
    /** Null when the job did not complete. */
    result: JobKinds[Each]['result'] | null
  }
}[T]

export type Job = JobOf<JobType>
export type HistoryJob = JobOf<HistoryJobType>
export type ContactsImportJob = JobOf<'contacts_import'>
export type JobProgress = Job['progress']
export type JobResult = NonNullable<Job['result']>

/** What a job is asked for. */
export type JobOrder<T extends JobType = JobType> = {
  [Each in T]: { type: Each; params: JobKinds[Each]['params'] }
}[T]

/** How a job ended. */
export type JobEnd = {
  status: Exclude<JobStatus, 'pending' | 'running'>
  endedAt: number
  progress: JobProgress
  error: string | null
  result: JobResult | null
}

/** Jobs of one family of one instance run one after the other: they change the same things. */
export type JobFamily = 'history' | 'contacts'

export function familyOf(type: JobType): JobFamily {
  return isHistoryType(type) ? 'history' : 'contacts'
}

export function isHistoryJob(job: Job): job is HistoryJob {
  return isHistoryType(job.type)
}

export function isHistoryOrder(order: JobOrder): order is JobOrder<HistoryJobType> {
  return isHistoryType(order.type)
}

/** The progress of a job that has not begun. */
export function noProgressOf(type: JobType): JobProgress {
  return isHistoryType(type) ? noImportProgress : noContactsProgress
}

/** `changes` come from the runner of the type of the job. */
export function changeJob(job: Job, changes: Partial<Omit<JobEnd, 'status'> & JobFacts>): Job {
  return { ...job, ...changes } as Job
}

function isHistoryType(type: JobType): type is HistoryJobType {
  return historyJobTypes.some((each) => each === type)
}

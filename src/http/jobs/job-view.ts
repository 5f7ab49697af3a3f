// Translates jobs to the JSON of the API.

import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'
import { historyJobTypes } from '../../core/jobs/history-jobs.ts'
import { isHistoryJob, jobStatuses } from '../../core/jobs/job.ts'
import type { Job, JobType } from '../../core/jobs/job.ts'
import { nullable, Timestamp, toTimestamp } from '../schemas.ts'
import {
  Adopted,
  ContactsProgressBody,
  ImportedContacts,
  RepairedContacts,
  toAdopted,
  toContactsProgress,
  toImportedContacts,
  toRepairedContacts,
} from './contacts-job-view.ts'
import { ImportedAll, ImportProgressBody, toImportedAll, toImportProgress } from './history-job-view.ts'

const JobStatus = Type.Unsafe<(typeof jobStatuses)[number]>({ type: 'string', enum: [...jobStatuses] })

/** The answer to a request that starts a job. */
export const StartedJob = Type.Object({ job_id: Type.String(), status: JobStatus }, { title: 'StartedJob' })

const oneOf = <const T extends JobType>(types: readonly T[], description: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...types], description })

function bodyOf<T extends TSchema, P extends TSchema, R extends TSchema>(title: string, parts: Parts<T, P, R>) {
  const { type, progress, result } = parts
  return Type.Object(
    {
      id: Type.String(),
      type,
      instance: Type.String(),
      status: JobStatus,
      dry_run: Type.Boolean({ description: 'The job changes nothing: its counts say what it would do' }),
      progress,
      created_at: Timestamp,
      started_at: nullable(Timestamp),
      ended_at: nullable(Timestamp),
      error: nullable(Type.String({ description: 'Why the job failed' })),
      result: nullable(result),
    },
    { title },
  )
}

type Parts<T, P, R> = { type: T; progress: P; result: R }

const historyTypes = 'history_all: import-all; history_chat: import; history_pairing: after the account was linked'
const HistoryJobBody = bodyOf('HistoryJob', {
  ...{ type: oneOf(historyJobTypes, historyTypes), progress: ImportProgressBody, result: ImportedAll },
})
const ContactsImportBody = bodyOf('ContactsImportJob', {
  type: oneOf(['contacts_import'], 'contacts/import'),
  ...{ progress: ContactsProgressBody, result: ImportedContacts },
})
const ContactsRepairBody = bodyOf('ContactsRepairJob', {
  type: oneOf(['contacts_repair'], 'contacts/repair'),
  ...{ progress: ContactsProgressBody, result: RepairedContacts },
})
const AdoptBody = bodyOf('AdoptJob', {
  ...{ type: oneOf(['adopt'], 'adopt'), progress: ContactsProgressBody, result: Adopted },
})

export const JobBody = Type.Union([HistoryJobBody, ContactsImportBody, ContactsRepairBody, AdoptBody], { title: 'Job' })

export function toStartedJob({ id, status }: Job): Static<typeof StartedJob> {
  return { job_id: id, status }
}

export function toJobBody(job: Job): Static<typeof JobBody> {
  if (isHistoryJob(job)) {
    const result = job.result && toImportedAll(job.instance, job.result)
    return { ...toFacts(job), type: job.type, progress: toImportProgress(job.progress), result }
  }
  const facts = { ...toFacts(job), progress: toContactsProgress(job.progress) }
  switch (job.type) {
    case 'contacts_import':
      return { ...facts, type: job.type, result: job.result && toImportedContacts(job.result) }
    case 'contacts_repair':
      return { ...facts, type: job.type, result: job.result && toRepairedContacts(job.result) }
    case 'adopt':
      return { ...facts, type: job.type, result: job.result && toAdopted(job.result) }
  }
}

function toFacts({ id, instance, status, params, createdAt, startedAt, endedAt, error }: Job) {
  return {
    ...{ id, instance, status, error },
    dry_run: 'dryRun' in params && params.dryRun,
    created_at: toTimestamp(createdAt),
    started_at: startedAt === null ? null : toTimestamp(startedAt),
    ended_at: endedAt === null ? null : toTimestamp(endedAt),
  }
}

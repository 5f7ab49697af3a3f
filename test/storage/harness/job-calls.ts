// The calls of the store of jobs.

import { noImportProgress } from '../../../src/core/jobs/history-jobs.ts'
import type { HistoryJob, JobEnd } from '../../../src/core/jobs/job.ts'
import { sampleAudit } from '../../harness/samples.ts'
import type { StoreCall, Stores } from './all-stores.ts'

const ended: JobEnd = { status: 'completed', endedAt: 3000, progress: noImportProgress, error: null, result: null }

export function sampleJob(id: string, overrides: Partial<HistoryJob> = {}): HistoryJob {
  return {
    ...{ id, type: 'history_all', instance: 'shop', status: 'pending' },
    params: { chat: null, count: 50, timeoutMs: 30_000, days: 7, mediaDays: 0 },
    progress: noImportProgress,
    ...{ createdAt: 1000, startedAt: null, endedAt: null, error: null, result: null },
    ...overrides,
  }
}

const created = ({ jobs }: Stores, id: string) => jobs.create(sampleJob(id), [sampleAudit({ key: id })])

export const jobCalls: Readonly<Record<string, StoreCall>> = {
  'JobStore.create': { kind: 'repeated', run: created },
  'JobStore.find': { kind: 'read', run: ({ jobs }, id) => jobs.find(id) },
  'JobStore.list': { kind: 'read', run: ({ jobs }) => jobs.list(10, 'shop') },
  'JobStore.unfinished': { kind: 'read', run: ({ jobs }) => jobs.unfinished('shop') },
  'JobStore.begin': {
    kind: 'repeated',
    given: created,
    run: ({ jobs }, id) => jobs.begin({ id, instance: 'shop' }, 2000),
  },
  'JobStore.end': {
    kind: 'repeated',
    given: created,
    run: ({ jobs }, id) => jobs.end({ id, instance: 'shop' }, ended, [sampleAudit({ key: `end ${id}` })]),
  },
  'JobStore.remove': { kind: 'repeated', given: created, run: ({ jobs }, id) => jobs.remove({ id, instance: 'shop' }) },
  'JobStore.prune': {
    kind: 'repeated',
    given: async (stores, id) => {
      await created(stores, id)
      await stores.jobs.end({ id, instance: 'shop' }, ended)
    },
    run: ({ jobs }) => jobs.prune(5000),
  },
}

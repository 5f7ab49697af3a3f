// The calls of the store of jobs.

import { noProgress } from '../../../src/core/history/job.ts'
import type { Job } from '../../../src/core/history/job.ts'
import type { JobEnd } from '../../../src/storage/stores/history/job-store.ts'
import { sampleAudit } from '../../harness/samples.ts'
import type { StoreCall, Stores } from './all-stores.ts'

const ended: JobEnd = { status: 'completed', endedAt: 3000, progress: noProgress, error: null, result: null }

export function sampleJob(id: string, overrides: Partial<Job> = {}): Job {
  return {
    ...{ id, type: 'history_all', instance: 'shop', status: 'pending' },
    params: { chat: null, count: 50, timeoutMs: 30_000, days: 7, mediaDays: 0 },
    progress: noProgress,
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
  'JobStore.begin': { kind: 'repeated', given: created, run: ({ jobs }, id) => jobs.begin(id, 2000) },
  'JobStore.end': {
    kind: 'repeated',
    given: created,
    run: ({ jobs }, id) => jobs.end(id, ended, [sampleAudit({ key: `end ${id}` })]),
  },
  'JobStore.remove': { kind: 'repeated', given: created, run: ({ jobs }, id) => jobs.remove(id) },
  'JobStore.prune': {
    kind: 'repeated',
    given: async (stores, id) => {
      await created(stores, id)
      await stores.jobs.end(id, ended)
    },
    run: ({ jobs }) => jobs.prune(5000),
  },
}

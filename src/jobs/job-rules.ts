// Decides whether a job may be added to the unfinished jobs of its instance, and whether it may run at once.

import { isHistoryJob, isHistoryOrder } from '../core/jobs/job.ts'
import type { HistoryJob, Job, JobOrder } from '../core/jobs/job.ts'
import type { HistoryJobType, ImportParams } from '../core/jobs/history-jobs.ts'

/** share: the order gets this job, which does the same. refuse: this job must end first. */
export type Ruling = { add: true } | { share: Job } | { refuse: Job }

/** `unfinished` are the jobs of the instance, oldest first. */
export function ruleOn(order: JobOrder, unfinished: readonly Job[]): Ruling {
  if (isHistoryOrder(order)) return ruleOnHistory(order, unfinished.filter(isHistoryJob))
  const same = unfinished.find(({ type }) => type === order.type)
  return same ? { refuse: same } : { add: true }
}

/** The phone may still be sending what the job imports. */
export function isUnsent({ type, status }: Pick<Job, 'type' | 'status'>): boolean {
  return type === 'history_pairing' && status === 'pending'
}

function ruleOnHistory({ type, params }: JobOrder<HistoryJobType>, unfinished: readonly HistoryJob[]): Ruling {
  // The phone sends its history also while another job is under way. The import of the history waits for its turn.
  if (type === 'history_pairing') return { add: true }
  const whole = unfinished.find((job) => job.type !== 'history_chat')
  if (whole) return { refuse: whole }
  const same = type === 'history_chat' && unfinished.find((job) => isSameChat(job.params, params))
  return same ? { share: same } : { add: true }
}

function isSameChat(one: ImportParams, other: ImportParams): boolean {
  return one.chat?.some((jid) => other.chat?.includes(jid)) ?? false
}

// Decides whether a job may be added to the unfinished jobs of its instance.

import type { ImportParams, Job, JobType } from '../../core/history/job.ts'

export type Order = { type: JobType; params: ImportParams }

/** share: the order gets this job, which does the same. refuse: this job must end first. */
export type Ruling = { add: true } | { share: string } | { refuse: string }

/** `unfinished` are the jobs of the instance, oldest first. */
export function ruleOn({ type, params }: Order, unfinished: readonly Job[]): Ruling {
  // The phone sends its history also while another job is under way. The import of the history waits for its turn.
  if (type === 'history_pairing') return { add: true }
  const whole = unfinished.find((job) => job.type !== 'history_chat')
  if (whole) return { refuse: whole.id }
  const same = type === 'history_chat' && unfinished.find((job) => isSameChat(job.params, params))
  return same ? { share: same.id } : { add: true }
}

function isSameChat(one: ImportParams, other: ImportParams): boolean {
  return one.chat?.some((jid) => other.chat?.includes(jid)) ?? false
}

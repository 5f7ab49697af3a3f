// Loads the jobs and follows their events.

import { useLive } from '../../lib/live.js'
import { useLoad } from '../../lib/use-load.js'
import { useEffect, useState } from '../../vendor/hooks.js'

/** @typedef {'pending' | 'running' | 'completed' | 'failed' | 'cancelled'} Status */
/**
 * @typedef {{
 *   id: string, type: string, instance: string, status: Status, dry_run: boolean,
 *   progress: { done: number, total: number, errors: number, estimated_end_at: string | null },
 *   created_at: string, started_at: string | null, ended_at: string | null, error: string | null,
 *   result?: Record<string, unknown> | null,
 * }} Job as GET /api/jobs shows it; an event has no result
 */

/** @param {Status} status */
export function hasEnded(status) {
  return status !== 'pending' && status !== 'running'
}

/** @returns {import('../../lib/use-load.js').Loaded<Job[]>} newest first */
export function useJobs() {
  /** @type {import('../../lib/use-load.js').Loaded<Job[]>} */
  const { data, error, reload } = useLoad('jobs')
  /** What the events say since the list was loaded. */
  const [newer, setNewer] = useState(/** @type {ReadonlyMap<string, Job>} */ (new Map()))
  useEffect(() => {
    // The list has the ends of jobs with their results. An event about a running job may be newer than the list.
    setNewer((before) => new Map([...before].filter(([, job]) => !hasEnded(job.status))))
  }, [data])
  useLive(['hello'], reload, [reload])
  useLive(
    ['reset'],
    () => {
      // A job may be gone, and no event told it.
      setNewer(new Map())
      reload()
    },
    [reload],
  )
  useLive(
    ['instance'],
    (/** @type {{ name: string, deleted?: true }} */ { name, deleted }) => {
      if (!deleted) return
      // Its jobs go with it.
      setNewer((before) => new Map([...before].filter(([, job]) => job.instance !== name)))
      reload()
    },
    [reload],
  )
  useLive(
    ['job'],
    (/** @type {Job} */ job) => {
      setNewer((before) => new Map(before).set(job.id, job))
      // The event has no result.
      if (hasEnded(job.status)) reload()
    },
    [reload],
  )
  return { data: data && merge(data, newer), error, reload }
}

/** @param {readonly Job[]} listed @param {ReadonlyMap<string, Job>} newer @returns {Job[]} */
function merge(listed, newer) {
  const all = new Map(listed.map((job) => [job.id, job]))
  // A job that has ended in the list does not run again.
  for (const [id, job] of newer) if (!hasEnded(all.get(id)?.status ?? 'pending')) all.set(id, job)
  return [...all.values()].sort((a, b) => b.created_at.localeCompare(a.created_at))
}

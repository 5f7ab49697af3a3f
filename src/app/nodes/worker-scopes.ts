// Which node does the work of each background worker.

import type { Duties } from '../../core/nodes/duties.ts'
import type { Ticker } from '../../lib/ticker.ts'

/**
 * own: each node, for the instances that it holds. first: only the node that does the work that belongs to no instance. every: each
 * node, for itself; a worker with parts of several scopes asks for its duties itself.
 */
type WorkerScope = 'own' | 'first' | 'every'

export const workerScopes: Readonly<Record<string, WorkerScope>> = {
  'abandoned-imports': 'own',
  'awaited-callbacks': 'own',
  'ban-risk': 'own',
  'call-texts': 'own',
  'clock-check': 'every',
  dates: 'first',
  'deleted-instances': 'every',
  'delivery-sweep': 'first',
  'header-prune': 'every',
  'history-prune': 'first',
  'import-sweep': 'first',
  'job-sweep': 'first',
  'key-sweep': 'first',
  labels: 'own',
  'last-messages': 'own',
  'late-files': 'own',
  'message-map-prune': 'first',
  'node-prune': 'first',
  'outbox-answers': 'own',
  'outbox-drain': 'every',
  'outbox-expire': 'own',
  'outbox-prune': 'first',
  'outbox-shown': 'every',
  'rejected-calls-prune': 'first',
  'setup-watch': 'own',
  'state-history': 'own',
  'state-history-sweep': 'first',
  ticks: 'own',
  'usage-flush': 'every',
}

/** The workers of the first node rest on every other one. Throws for a worker that has no scope. */
export function limitToDuties(workers: readonly Ticker[], duties: Pick<Duties, 'isFirst'>): void {
  for (const worker of workers) {
    const scope = workerScopes[worker.name]
    if (!scope) throw new Error(`the worker ${worker.name} has no scope: add it to src/app/nodes/worker-scopes.ts`)
    if (scope === 'first') worker.runOnlyWhile(() => duties.isFirst())
  }
}

// Every part that keeps memory per instance, in the order in which the parts take an instance and leave it.

import type { PerInstance } from '../core/per-instance.ts'

type Listed = { readonly perInstance: readonly PerInstance[] }
/** The worker comes first. */
type WithWorker = { readonly perInstance: readonly [PerInstance, ...PerInstance[]] }

type Parts = {
  accounts: { reachability: PerInstance; pendingLogouts: PerInstance }
  calls: { rejections: PerInstance }
  history: Listed
  idClock: PerInstance
  inbound: WithWorker
  jobs: { jobs: PerInstance }
  lifecycle: { courier: PerInstance; exhausted: PerInstance }
  live: PerInstance
  metrics: PerInstance
  notices: PerInstance | undefined
  numbers: PerInstance
  outbound: WithWorker
  records: { states: PerInstance; lastMessages: PerInstance }
  setup: { watch: PerInstance }
  sync: Listed
  usage: PerInstance
}

export function listPerInstance(parts: Parts): readonly PerInstance[] {
  const { accounts, calls, history, jobs, lifecycle, notices, records, setup, sync } = parts
  const [inboxWorker, ...inboundMemory] = parts.inbound.perInstance
  const [outboxWorker, ...outboundMemory] = parts.outbound.perInstance
  return [
    // Before a part creates the id of a row of the instance.
    parts.idClock,
    // The workers and the jobs leave first: what they have under way could fill the memory of another part again.
    inboxWorker,
    outboxWorker,
    // The part of the history that starts jobs looks at them when it takes an instance.
    jobs.jobs,
    ...history.perInstance,
    ...inboundMemory,
    ...outboundMemory,
    ...sync.perInstance,
    calls.rejections,
    parts.numbers,
    ...(notices ? [notices] : []),
    setup.watch,
    lifecycle.courier,
    lifecycle.exhausted,
    accounts.reachability,
    accounts.pendingLogouts,
    parts.usage,
    parts.metrics,
    records.states,
    records.lastMessages,
    parts.live,
  ]
}

// Runs an import job: plans its chats, imports some of them side by side, and sums up what became of them.

import type { ImportResult } from '../../core/jobs/history-jobs.ts'
import type { HistoryJob } from '../../core/jobs/job.ts'
import type { Jid } from '../../core/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import type { HistoryStore } from '../../storage/stores/history/history-store.ts'
import type { ImportChat, ImportStore, ImportTotals } from '../../storage/stores/history/import-store.ts'
import type { JobRunner, RunOptions } from '../../core/jobs/job-runner.ts'
import type { ChatImport } from './import-chat.ts'
import { ImportMeter } from './import-meter.ts'
import type { Workload } from './import-meter.ts'
import type { ImportPace } from './import-pace.ts'
import { planChats } from './plan-chats.ts'
import type { PlanDeps } from './plan-chats.ts'

type Deps = {
  imports: Pick<ImportStore, 'plan' | 'unfinished' | 'totals'>
  history: Pick<HistoryStore, 'chats'>
  planning: PlanDeps
  chats: Pick<ChatImport, 'run'>
  pace: Pick<ImportPace, 'share'>
  clock: Clock
  /** How many chats of a job are imported side by side. */
  chatsAtOnce: number
}

const dayMs = 86_400_000

export class ImportRun implements JobRunner<HistoryJob> {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async run(job: HistoryJob, { signal, onProgress }: RunOptions<HistoryJob>): Promise<ImportResult> {
    const { imports, clock, pace, chats, chatsAtOnce } = this.#deps
    signal.throwIfAborted()
    const since = job.createdAt - job.params.days * dayMs
    const begun = await this.#plan(job, since)
    const unfinished = await imports.unfinished(job.id)
    const workload = await this.#workloadOf(job, unfinished, since)
    const meter = new ImportMeter({ clock, ratePerSec: () => pace.share, onProgress }, begun, workload, job.params)
    await sideBySide(unfinished, chatsAtOnce, signal, (chat, stop) =>
      chats.run(chat, { job, since, meter, signal: stop }),
    )
    return resultOf(await imports.totals(job.id))
  }

  /** A job that was planned before goes on with its chats. */
  async #plan(job: HistoryJob, since: number): Promise<ImportTotals> {
    const { imports, planning } = this.#deps
    const before = await imports.totals(job.id)
    if (before.chats > 0) return before
    await imports.plan(job, await planChats(planning, job, since))
    return imports.totals(job.id)
  }

  async #workloadOf({ instance }: HistoryJob, unfinished: readonly ImportChat[], since: number): Promise<Workload> {
    const ours = new Set<Jid>(unfinished.flatMap(({ jids }) => jids))
    const kept = (await this.#deps.history.chats(instance, since)).filter(({ jid }) => ours.has(jid))
    return {
      pending: kept.reduce((sum, { pending }) => sum + pending, 0),
      unasked: unfinished.filter(({ state }) => state === 'waiting').length,
    }
  }
}

/** Rejects with the first failure, as soon as the work on the other chats has stopped. */
async function sideBySide(
  chats: readonly ImportChat[],
  width: number,
  signal: AbortSignal,
  work: (chat: ImportChat, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failed = new AbortController()
  const stop = AbortSignal.any([signal, failed.signal])
  const left = chats.values()
  const workOn = async () => {
    // The workers share the iterator.
    for (const chat of left) {
      stop.throwIfAborted()
      await work(chat, stop)
    }
  }
  const workers = Array.from({ length: width }, async () => {
    try {
      await workOn()
    } catch (error) {
      failed.abort(error)
    }
  })
  await Promise.allSettled(workers)
  stop.throwIfAborted()
}

function resultOf(totals: ImportTotals): ImportResult {
  const { chats, done, outcomes, seen, kept, posted, skipped, errors, oldestAt, newestAt } = totals
  return {
    ...{ chats, scanned: done, posted, oldestAt, newestAt },
    imported: outcomes.imported,
    skipped: outcomes.skipped,
    noAnchor: outcomes.no_anchor,
    errors: outcomes.error,
    messagesSeen: seen,
    messagesKept: kept,
    messagesSkipped: skipped,
    messageErrors: errors,
  }
}

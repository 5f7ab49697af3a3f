// A runner whose runs end when the test says so.

import type { ImportResult, Job } from '../../../src/core/history/job.ts'
import type { ImportRunner, RunOptions } from '../../../src/history/jobs/import-runner.ts'
import { ImportStopped } from '../../../src/history/jobs/import-runner.ts'
import { waitUntil } from '../../harness/wait-until.ts'

export const sampleResult: ImportResult = {
  ...{ chats: 2, scanned: 2, imported: 1, skipped: 1, noAnchor: 0, errors: 0, posted: 4 },
  ...{ messagesSeen: 9, messagesKept: 5, messagesSkipped: 1, messageErrors: 0, oldestAt: 100_500, newestAt: 200_500 },
}

type ScriptedRun = PromiseWithResolvers<ImportResult> & { job: Job; options: RunOptions }

export class ScriptedRunner implements ImportRunner {
  /** The runs that have not ended, oldest first. */
  readonly runs: ScriptedRun[] = []
  /** The ids of the jobs in the order of their runs. */
  readonly begun: string[] = []
  /** Why runs were stopped. */
  readonly stops: string[] = []
  /** Ends runs at once when it is set. */
  answer: ((job: Job) => Promise<ImportResult>) | undefined

  async run(job: Job, options: RunOptions): Promise<ImportResult> {
    this.begun.push(job.id)
    if (this.answer) return this.answer(job)
    const run = { ...Promise.withResolvers<ImportResult>(), job, options }
    this.runs.push(run)
    const { signal } = options
    const stop = () => {
      if (signal.reason instanceof ImportStopped) this.stops.push(signal.reason.why)
      run.reject(signal.reason as Error)
    }
    signal.addEventListener('abort', stop, { once: true })
    try {
      return await run.promise
    } finally {
      this.runs.splice(this.runs.indexOf(run), 1)
    }
  }

  async waitForRun(instance: string): Promise<ScriptedRun> {
    const find = () => this.runs.find(({ job }) => job.instance === instance)
    await waitUntil(`a job of ${instance} runs`, () => find() !== undefined, { instead: () => this.begun })
    const run = find()
    if (!run) throw new Error('the run has ended')
    return run
  }
}

// A runner whose runs end when the test says so.

import type { ImportResult } from '../../../src/core/jobs/history-jobs.ts'
import type { HistoryJob, Job } from '../../../src/core/jobs/job.ts'
import type { JobRunner, RunOptions } from '../../../src/core/jobs/job-runner.ts'
import { JobStopped } from '../../../src/core/jobs/job-runner.ts'
import { waitUntil } from '../../harness/wait-until.ts'

export const sampleResult: ImportResult = {
  ...{ chats: 2, scanned: 2, imported: 1, skipped: 1, noAnchor: 0, errors: 0, posted: 4 },
  ...{ messagesSeen: 9, messagesKept: 5, messagesSkipped: 1, messageErrors: 0, oldestAt: 100_500, newestAt: 200_500 },
}

type ResultOf<J extends Job> = NonNullable<J['result']>
type ScriptedRun<J extends Job> = PromiseWithResolvers<ResultOf<J>> & { job: J; options: RunOptions<J> }

export class ScriptedRunner<J extends Job = HistoryJob> implements JobRunner<J> {
  /** The runs that have not ended, oldest first. */
  readonly runs: ScriptedRun<J>[] = []
  /** The ids of the jobs in the order of their runs. */
  readonly begun: string[] = []
  /** Why runs were stopped. */
  readonly stops: string[] = []
  /** Ends runs at once when it is set. */
  answer: ((job: J) => Promise<ResultOf<J>>) | undefined

  async run(job: J, options: RunOptions<J>): Promise<ResultOf<J>> {
    this.begun.push(job.id)
    if (this.answer) return this.answer(job)
    const run = { ...Promise.withResolvers<ResultOf<J>>(), job, options }
    this.runs.push(run)
    const { signal } = options
    const stop = () => {
      if (signal.reason instanceof JobStopped) this.stops.push(signal.reason.why)
      run.reject(signal.reason as Error)
    }
    signal.addEventListener('abort', stop, { once: true })
    try {
      return await run.promise
    } finally {
      this.runs.splice(this.runs.indexOf(run), 1)
    }
  }

  async waitForRun(instance: string): Promise<ScriptedRun<J>> {
    const find = () => this.runs.find(({ job }) => job.instance === instance)
    await waitUntil(`a job of ${instance} runs`, () => find() !== undefined, { instead: () => this.begun })
    const run = find()
    if (!run) throw new Error('the run has ended')
    return run
  }
}

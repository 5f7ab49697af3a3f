// The part that imports what a job asks for, as the jobs see it.

import type { ImportProgress, ImportResult, Job } from '../../core/history/job.ts'

/**
 * cancelled  a caller cancelled the job: it is never run again, and what it began is tidied up
 * deleted    the instance is being deleted, or moves to another process
 * stopping   the process ends: the job is run again by the next one
 */
export type StopCause = 'cancelled' | 'deleted' | 'stopping'

/** The reason of the signal that stops a run. */
export class ImportStopped extends Error {
  readonly why: StopCause

  constructor(why: StopCause) {
    super(`the import was stopped: ${why}`)
    this.name = 'ImportStopped'
    this.why = why
  }
}

export type RunOptions = {
  /** Aborted with an ImportStopped. The run then rejects within a second, also while it waits for the phone or the helpdesk. */
  signal: AbortSignal
  onProgress: (progress: ImportProgress) => void
}

export type ImportRunner = {
  /**
   * Runs the job to its end. A job that was run before goes on at its unfinished chats. Rejects with a BridgeError when the
   * job fails for a reason that its caller must hear. After a StorageError the job is run again.
   */
  run(job: Job, options: RunOptions): Promise<ImportResult>
}

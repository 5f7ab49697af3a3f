// The part that does what a job asks for, as the jobs see it.

import type { Job } from './job.ts'

/**
 * cancelled  a caller cancelled the job: it is never run again, and what it began is tidied up
 * deleted    the instance is being deleted, or moves to another process
 * stopping   the process ends: the job is run again by the next one
 */
export type StopCause = 'cancelled' | 'deleted' | 'stopping'

/** The reason of the signal that stops a run. */
export class JobStopped extends Error {
  readonly why: StopCause

  constructor(why: StopCause) {
    super(`the job was stopped: ${why}`)
    this.name = 'JobStopped'
    this.why = why
  }
}

export type RunOptions<J extends Job> = {
  /** Aborted with a JobStopped. The run then rejects within a second, also while it waits for the phone or the helpdesk. */
  signal: AbortSignal
  onProgress: (progress: J['progress']) => void
}

export type JobRunner<J extends Job> = {
  /**
   * Runs the job to its end. A job that was run before goes on where it was: each step may be made again. Rejects with a
   * BridgeError when the job fails for a reason that its caller must hear. After a StorageError the job is run again.
   */
  run(job: J, options: RunOptions<J>): Promise<NonNullable<J['result']>>
}

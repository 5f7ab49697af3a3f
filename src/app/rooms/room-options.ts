// What a start, or a test, can give to the rooms.

import type { SendStep } from '../../bridge/outbound/send/row-sender.ts'
import type { HistoryJob } from '../../core/jobs/job.ts'
import type { JobRunner } from '../../core/jobs/job-runner.ts'
import type { Duties } from '../../core/nodes/duties.ts'
import type { HandOverStep } from '../../instances/hand-over.ts'
import type { Machine } from '../../setup/checks/machine.ts'
import type { NodeView } from '../nodes/node-view.ts'

export type RoomOptions = {
  qrLifetimeMs?: number
  /** Called between the steps of a send, which waits until it resolves. */
  onSendStep?: (step: SendStep) => Promise<void>
  /** Called between the steps of a hand-over to another node, which waits until it resolves. */
  onHandOverStep?: (step: HandOverStep) => Promise<void>
  /** How long an uncertain post is looked for before it is repeated. */
  lateCommitMs?: number
  /** Runs the jobs of the history in place of the importer. */
  importRunner?: JobRunner<HistoryJob>
  /** Where the checks of the set-up look for free space and for ffmpeg. */
  machine?: Machine
  /** Aborted when the process is asked to stop. */
  stopping?: AbortSignal
  /** The file that this process runs. A node starts it again as a cell; without it a node starts none. */
  cellProgram?: string
  /** Called with the URL of the listener for other nodes, before this process is one of them. */
  onNodeUrl?: (url: string) => void
  /** The other processes on the same database. */
  nodes?: NodeView
  /** Which work this process does; all of it when it is left out. */
  duties?: Duties
}

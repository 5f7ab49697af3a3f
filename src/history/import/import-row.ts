// Imports one message of a chat: posts it until it has an outcome.

import { DownstreamError } from '../../core/downstream.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { HoldOf } from '../../core/nodes/hold.ts'
import type { Log } from '../../lib/log.ts'
import { StorageError } from '../../storage/engine/statement.ts'
import type { HistoryOutcome } from '../../storage/schema/history.ts'
import type { HistoryRow, HistoryStore } from '../../storage/stores/history/history-store.ts'
import type { PastPoster } from '../posting/past-poster.ts'
import type { HelpdeskAttempts } from '../../jobs/helpdesk-attempts.ts'
import type { ImportPlaces } from './import-places.ts'
import type { ChatWork } from './import-work.ts'

type Deps = {
  attempts: Pick<HelpdeskAttempts, 'run'>
  places: Pick<ImportPlaces, 'enter' | 'forget'>
  poster: Pick<PastPoster, 'post'>
  history: Pick<HistoryStore, 'setOutcome'>
  holdOf: HoldOf
  /** Counts a message that the helpdesk did not take. */
  onRefused: (instance: InstanceName) => void
  log: Log
}

const dayMs = 86_400_000

export class RowImport {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** `no_place`: no conversation could be had for the chat, so its other messages would fail as well. */
  run(work: ChatWork, row: HistoryRow, signal: AbortSignal): Promise<HistoryOutcome | 'no_place'> {
    const { attempts, places, poster } = this.#deps
    const { job } = work
    const { instance, id: jobId } = job
    const mediaSince = job.params.mediaDays === 0 ? null : job.createdAt - job.params.mediaDays * dayMs
    return attempts.run<HistoryOutcome | 'no_place'>(
      {
        instance,
        attempt: (target) => {
          const conversation = () => places.enter(work, target, signal)
          return poster.post(row, { instance, jobId, target, conversation, mediaSince }, signal)
        },
        relocate: () => places.forget(work),
        giveUp: (error) => this.#giveUp(work, row, error),
      },
      signal,
    )
  }

  async #giveUp({ job, conversation }: ChatWork, row: HistoryRow, err: unknown): Promise<HistoryOutcome | 'no_place'> {
    const { history, holdOf, onRefused, log } = this.#deps
    const { instance, id } = job
    if (!conversation && isOfChat(err)) {
      log.error({ err, instance, job: id }, 'the history of a chat was not imported: it has no conversation')
      return 'no_place'
    }
    log.error({ err, instance, job: id, kind: row.event.kind }, 'a message of the history was not imported')
    await history.setOutcome(holdOf(instance), row.id, 'error', id)
    onRefused(instance)
    return 'error'
  }
}

/** Before a chat has a conversation, a failure of our own code is about one message. Other failures are about the chat. */
function isOfChat(error: unknown): boolean {
  return error instanceof DownstreamError || error instanceof StorageError
}

// Stores and counts what an import made of a message.

import type { InstanceName } from '../../core/ids.ts'
import type { HoldOf } from '../../core/nodes/hold.ts'
import type { Statement } from '../../storage/engine/statement.ts'
import type { HistoryOutcome } from '../../storage/schema/history.ts'
import type { HistoryStore } from '../../storage/stores/history/history-store.ts'
import type { PastInto, PastMessage } from './past-message.ts'

/** The results of the feature `history_import` that come from posting. */
export type PastResult = 'ok' | 'duplicate' | 'filtered' | 'ds_error'

type Deps = {
  history: Pick<HistoryStore, 'outcomeStatement' | 'setOutcome'>
  count: (instance: InstanceName, result: PastResult) => void
  holdOf: HoldOf
}

const results: Record<HistoryOutcome, PastResult> = {
  posted: 'ok',
  skipped: 'duplicate',
  filtered: 'filtered',
  error: 'ds_error',
}

export class PastOutcomes {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** For the commit that stores the message as posted. */
  postedStep({ id }: PastMessage, jobId: string): Statement {
    return this.#deps.history.outcomeStatement(id, 'posted', jobId)
  }

  /** The message is posted, and the commit of its map row stored that. */
  posted({ instance }: PastInto): HistoryOutcome {
    this.#deps.count(instance, results.posted)
    return 'posted'
  }

  /** Nothing was posted. */
  async end({ id }: PastMessage, { instance, jobId }: PastInto, outcome: HistoryOutcome): Promise<HistoryOutcome> {
    const { history, count, holdOf } = this.#deps
    await history.setOutcome(holdOf(instance), id, outcome, jobId)
    count(instance, results[outcome])
    return outcome
  }
}

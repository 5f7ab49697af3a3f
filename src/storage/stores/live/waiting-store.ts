// What waits for each instance, and when its last messages passed: for a node that shows instances of other nodes.

import type { InstanceName } from '../../../core/ids.ts'
import type { LastMessageTimes } from '../../../core/live.ts'
import type { Database } from '../../database.ts'
import { lateFile } from '../messages/inbox-store.ts'
import { countPending } from '../messages/outbox-counts.ts'

export type WaitingCounts = {
  outbox: ReadonlyMap<InstanceName, number>
  inbox: ReadonlyMap<InstanceName, number>
  parked: ReadonlyMap<InstanceName, number>
  lastMessages: ReadonlyMap<InstanceName, LastMessageTimes>
}

export class WaitingStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async counts(): Promise<WaitingCounts> {
    const [outbox, inbox, lastMessages] = await Promise.all([
      countPending(this.#database),
      this.#inbox(),
      this.#lastMessages(),
    ])
    const of = (state: string) =>
      new Map(inbox.filter((row) => row.state === state).map(({ instance, count }) => [instance, count]))
    return { outbox, inbox: of('pending'), parked: of('parked'), lastMessages }
  }

  #inbox() {
    const { query } = this.#database
    return this.#database.read(
      query
        .selectFrom('inbox')
        .select(['instance', 'state', ({ fn }) => fn.countAll<number>().as('count')])
        .where('kind', '!=', lateFile)
        .groupBy(['instance', 'state']),
    )
  }

  async #lastMessages(): Promise<Map<InstanceName, LastMessageTimes>> {
    const { query } = this.#database
    const rows = await this.#database.read(query.selectFrom('last_messages').selectAll())
    return new Map(rows.map(({ instance, in_at: inAt, out_at: outAt }) => [instance, { inAt, outAt }]))
  }
}

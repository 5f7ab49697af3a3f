// Creates the parts that give imported messages their true dates: in the database of the helpdesk, or at the head of their text.

import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { Downstream } from '../../core/downstream.ts'
import { installationAt } from '../../core/helpdesk/helpdesk-database.ts'
import type { HelpdeskDatabase } from '../../core/helpdesk/helpdesk-database.ts'
import type { Holds } from '../../core/nodes/hold.ts'
import { DateWorker } from '../../history/dates/date-worker.ts'
import { TimeHeads } from '../../history/dates/time-heads.ts'
import type { PastDates } from '../../history/posting/past-message.ts'
import { Ticker } from '../../lib/ticker.ts'
import type { Database } from '../../storage/database.ts'
import { toStatement } from '../../storage/engine/statement.ts'
import type { Statement } from '../../storage/engine/statement.ts'
import { MessageDateStore } from '../../storage/stores/history/message-date-store.ts'
import type { NewMessageDate } from '../../storage/stores/history/message-date-store.ts'
import type { Base } from '../base.ts'

type Parts = {
  settingsOf: SettingsOf
  database: Database
  holds: Holds
  downstream: Downstream
  /** Null without DOWNSTREAM_DB_URL. */
  helpdeskDatabase: HelpdeskDatabase | null
}

type Posted = Omit<NewMessageDate, 'now'>

export type DateSet = {
  /** How agents learn when an imported message was written. */
  dates: {
    headOf: PastDates['headOf']
    /** What the commit that completes an imported message needs besides. Nothing where the time is at the head of the text. */
    stepsOf: (posted: Posted) => readonly Statement[]
  }
  workers: readonly Ticker[]
}

const everyMs = 30_000

export function createDates({ config, clock, log }: Pick<Base, 'config' | 'clock' | 'log'>, parts: Parts): DateSet {
  const { settingsOf, database, holds, downstream, helpdeskDatabase } = parts
  const heads = new TimeHeads({ database: helpdeskDatabase, downstream, clock })
  const headOf: PastDates['headOf'] = ({ instance, destination, at }) =>
    heads.headOf(destination, at, settingsOf(instance).locale)
  const { baseUrl } = config.downstream
  if (helpdeskDatabase === null || baseUrl === null) return { dates: { headOf, stepsOf: () => [] }, workers: [] }
  const store = new MessageDateStore(database, holds.nodeHold)
  const installation = installationAt(baseUrl)
  const worker = new DateWorker({ database: helpdeskDatabase, installation, store, clock, log })
  const stepsOf = (posted: Posted) =>
    helpdeskDatabase.serves(posted.destination)
      ? [toStatement(store.queueStatement({ ...posted, now: clock.now() }))]
      : []
  const work = () => worker.run()
  return { dates: { headOf, stepsOf }, workers: [new Ticker({ name: 'dates', everyMs, work, clock, log })] }
}

// Creates the parts that keep the history which the phone sends.

import { createIgnoredChats } from '../../bridge/inbound/ignored-chats.ts'
import type { People } from '../../bridge/people/people.ts'
import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { Holds } from '../../core/nodes/hold.ts'
import { HistoryPruner } from '../../history/kept/history-pruner.ts'
import { KeptHistory } from '../../history/kept/kept-history.ts'
import { PairingImport } from '../../history/kept/pairing-import.ts'
import type { PairingJobs } from '../../history/kept/pairing-import.ts'
import type { Clock } from '../../lib/clock.ts'
import { createRowIds } from '../../lib/row-ids.ts'
import { firstSweepMs, Ticker } from '../../lib/ticker.ts'
import type { Database } from '../../storage/database.ts'
import { HistoryRemoval } from '../../storage/stores/history/history-removal.ts'
import { HistoryStore } from '../../storage/stores/history/history-store.ts'
import type { Base } from '../base.ts'

type Parts = {
  settingsOf: SettingsOf
  database: Database
  holds: Holds
  idClock: Pick<Clock, 'now'>
  people: People
  jobs: PairingJobs
  /** For how many days the instance imports its history when it is linked; null when it does not. */
  daysOf: (instance: InstanceName) => number | null
}

const pruneMs = 3_600_000

export function createKept({ config, clock, log }: Base, parts: Parts) {
  const { settingsOf, database, holds, idClock, people, jobs, daysOf } = parts
  const store = new HistoryStore(database)
  const pairing = new PairingImport({ jobs, daysOf, clock })
  const kept = new KeptHistory({
    isOn: config.history.enabled,
    store,
    people,
    pairing,
    isIgnored: createIgnoredChats(settingsOf),
    ...holds,
    newId: createRowIds(idClock),
    clock,
  })
  const pruner = new HistoryPruner({ store: new HistoryRemoval(database), ...holds, clock })
  const work = () => pruner.run()
  return {
    store,
    reception: kept,
    perInstance: [pairing, kept],
    /** How many messages of the instance are not imported. */
    count: (instance: InstanceName) => store.count(instance),
    /** Removes the history of a deleted instance. */
    forget: (instance: InstanceName) => pruner.forget(instance),
    workers: [new Ticker({ name: 'history-prune', everyMs: pruneMs, firstMs: firstSweepMs, work, clock, log })],
  }
}

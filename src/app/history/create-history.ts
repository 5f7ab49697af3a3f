// Creates the parts that keep the history of chats and start its import.

import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { HistoryReception } from '../../core/history/past-events.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import type { Holds } from '../../core/nodes/hold.ts'
import type { People } from '../../bridge/people/people.ts'
import { HistoryImports } from '../../history/requests/history-imports.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ticker } from '../../lib/ticker.ts'
import type { Database } from '../../storage/database.ts'
import { HistoryStore } from '../../storage/stores/history/history-store.ts'
import { MessageMapStore } from '../../storage/stores/messages/message-map-store.ts'
import type { Base } from '../base.ts'
import { createKept } from './create-kept.ts'

type Parts = {
  settingsOf: SettingsOf
  database: Database
  holds: Holds
  idClock: Pick<Clock, 'now'>
  instances: Pick<InstanceRegistry, 'find'>
  people: People
  jobs: Jobs
}

export type HistorySet = {
  /** Hears what the phone tells of the time before. */
  reception: HistoryReception
  imports: HistoryImports
  /** Every part that keeps memory per instance. */
  perInstance: readonly PerInstance[]
  /** How many messages of the instance are not imported. */
  count: (instance: InstanceName) => Promise<number>
  /** Removes the history of a deleted instance. */
  forget: (instance: InstanceName) => Promise<void>
  workers: readonly Ticker[]
}

export function createHistory(base: Base, parts: Parts): HistorySet {
  const { database, instances, people, jobs } = parts
  const { config, clock } = base
  const daysOf = (instance: InstanceName) => {
    const record = instances.find(instance)?.record
    return record?.isHistoryEnabled ? record.historyDays : null
  }
  const history = new HistoryStore(database)
  const map = new MessageMapStore(database)
  const imports = new HistoryImports({ isOn: config.history.enabled, jobs, people, history, map, clock })
  const { reception, perInstance, count, forget, workers } = createKept(base, { ...parts, daysOf })
  return { reception, imports, perInstance, count, forget, workers }
}

// Creates the parts that import the history of chats.

import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { Downstream } from '../../core/downstream.ts'
import type { HelpdeskDatabase } from '../../core/helpdesk/helpdesk-database.ts'
import type { HistoryReception } from '../../core/history/past-events.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import type { HistoryImports } from '../../history/jobs/history-imports.ts'
import type { ImportRunner } from '../../history/jobs/import-runner.ts'
import type { Jobs } from '../../history/jobs/jobs.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { Metrics } from '../../ledger/metrics.ts'
import type { Ticker } from '../../lib/ticker.ts'
import type { Database } from '../../storage/database.ts'
import type { Base } from '../base.ts'
import type { InboundSet } from '../inbound/create-inbound.ts'
import { createDates } from './create-dates.ts'
import type { DateSet } from './create-dates.ts'
import { createImport } from './create-import.ts'
import { createImportSweep } from './create-import-sweep.ts'
import { createJobs } from './create-jobs.ts'
import { createKept } from './create-kept.ts'
import { createPosting } from './create-posting.ts'

type Parts = {
  settingsOf: SettingsOf
  database: Database
  epoch: () => number
  idFloorMs: () => number
  instances: Pick<InstanceRegistry, 'find'>
  inbound: Pick<InboundSet, 'people' | 'contexts' | 'opener' | 'destinations' | 'posting'>
  downstream: Downstream
  metrics: Metrics
  /** Null without DOWNSTREAM_DB_URL. */
  helpdeskDatabase: HelpdeskDatabase | null
  /** Only for tests: replaces the limit of the downstream. */
  lateCommitMs: number | undefined
  /** Only for tests: runs the jobs in place of the importer. */
  runner: ImportRunner | undefined
}

export type HistorySet = {
  /** Hears what the phone tells of the time before. */
  reception: HistoryReception
  jobs: Jobs
  imports: HistoryImports
  /** Every part that keeps memory per instance. */
  perInstance: readonly PerInstance[]
  /** How many messages of the instance are not imported. */
  count: (instance: InstanceName) => Promise<number>
  /** Removes the history of a deleted instance. */
  forget: (instance: InstanceName) => Promise<void>
  workers: Ticker[]
}

export function createHistory(base: Base, parts: Parts): HistorySet {
  const { instances, inbound, runner } = parts
  const shared = { ...parts, people: inbound.people }
  const dates = createDates(base, parts)
  const importer = createImporter(base, parts, dates.dates)
  const { jobs, imports, sweep } = createJobs(base, { ...shared, runner: runner ?? importer.runner })
  const daysOf = (instance: InstanceName) => {
    const record = instances.find(instance)?.record
    return record?.isHistoryEnabled ? record.historyDays : null
  }
  const { reception, perInstance, count, forget, workers } = createKept(base, { ...shared, jobs, daysOf })
  const sweeps = [sweep, createImportSweep(base, parts)]
  return {
    ...{ reception, jobs, imports, count, forget },
    // The jobs are first: the part that starts them looks at them when it takes an instance.
    perInstance: [jobs, ...perInstance],
    workers: [...workers, ...sweeps, ...importer.workers, ...dates.workers],
  }
}

/** What runs the jobs. */
function createImporter(base: Base, parts: Parts, dates: DateSet['dates']): ReturnType<typeof createImport> {
  const { settingsOf, database, epoch, instances, inbound, downstream, metrics } = parts
  const { people, contexts, opener, destinations, posting } = inbound
  const lateCommitMs = parts.lateCommitMs ?? downstream.limits.lateCommitMs
  const shared = { settingsOf, database, epoch, people, contexts, lateCommitMs }
  const { poster, notes } = createPosting(base, {
    ...{ ...shared, posting, dates, metrics },
    contactOf: (spec, target) => opener.contactOf(spec, target),
  })
  return createImport(base, {
    ...{ ...shared, opener, destinations, poster, notes },
    sessionOf: (instance) => instances.find(instance)?.openSession,
    pairedAtOf: (instance) => instances.find(instance)?.record.pairedAt ?? null,
    isBusy: (destination) => posting.poster.isBusy(destination),
    count: (instance, result) => {
      metrics.realtimeEvents.inc({ feature: 'history_import', result, instance })
    },
  })
}

// Creates the part that runs the jobs that import history, with what it needs of the helpdesk.

import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { Downstream } from '../../core/downstream.ts'
import type { HelpdeskDatabase } from '../../core/helpdesk/helpdesk-database.ts'
import { historyDisabledSentence } from '../../core/history/history-disabled.ts'
import type { HistoryJob } from '../../core/jobs/job.ts'
import type { JobRunner } from '../../core/jobs/job-runner.ts'
import type { Duties } from '../../core/nodes/duties.ts'
import type { Holds } from '../../core/nodes/hold.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { JobRunners } from '../../jobs/job-runners.ts'
import type { Metrics } from '../../ledger/metrics.ts'
import type { Ticker } from '../../lib/ticker.ts'
import type { Database } from '../../storage/database.ts'
import type { Base } from '../base.ts'
import type { InboundSet } from '../inbound/create-inbound.ts'
import { createDates } from './create-dates.ts'
import { createImport } from './create-import.ts'
import { createImportSweep } from './create-import-sweep.ts'
import { createPosting } from './create-posting.ts'

type Parts = {
  settingsOf: SettingsOf
  database: Database
  holds: Holds
  duties: Duties
  instances: Pick<InstanceRegistry, 'find'>
  inbound: Pick<InboundSet, 'people' | 'contexts' | 'opener' | 'destinations' | 'posting'>
  downstream: Downstream
  metrics: Metrics
  /** Null without DOWNSTREAM_DB_URL. */
  helpdeskDatabase: HelpdeskDatabase | null
  /** Only for tests: replaces the limit of the downstream. */
  lateCommitMs: number | undefined
  /** Only for tests: runs the jobs in place of the importer. */
  runner: JobRunner<HistoryJob> | undefined
}

export type Importer = { runners: JobRunners; workers: readonly Ticker[] }

export function createImporter(base: Base, parts: Parts): Importer {
  const { settingsOf, database, holds, instances, inbound, downstream, metrics } = parts
  const { people, contexts, opener, destinations, posting } = inbound
  const { dates, workers } = createDates(base, parts)
  const lateCommitMs = parts.lateCommitMs ?? downstream.limits.lateCommitMs
  const shared = { settingsOf, database, holds, people, contexts, lateCommitMs }
  const { poster, notes } = createPosting(base, {
    ...{ ...shared, posting, dates, metrics },
    contactOf: (spec, target) => opener.contactOf(spec, target),
  })
  const importing = createImport(base, {
    ...{ ...shared, duties: parts.duties, opener, destinations, poster, notes },
    sessionOf: (instance) => instances.find(instance)?.openSession,
    pairedAtOf: (instance) => instances.find(instance)?.record.pairedAt ?? null,
    isBusy: (destination) => posting.poster.isBusy(destination),
    count: (instance, result) => {
      metrics.realtimeEvents.inc({ feature: 'history_import', result, instance })
    },
  })
  const runner = base.config.history.enabled ? (parts.runner ?? importing.runner) : { off: historyDisabledSentence }
  return {
    runners: { history_all: runner, history_chat: runner, history_pairing: runner },
    workers: [createImportSweep(base, parts), ...importing.workers, ...workers],
  }
}

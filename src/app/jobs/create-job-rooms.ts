// Creates the jobs of all types with the parts that run them, and the parts that start them.

import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { Downstream } from '../../core/downstream.ts'
import type { HelpdeskDatabase } from '../../core/helpdesk/helpdesk-database.ts'
import type { HistoryJob } from '../../core/jobs/job.ts'
import type { JobRunner } from '../../core/jobs/job-runner.ts'
import type { LiveChanges } from '../../core/live.ts'
import type { Duties } from '../../core/nodes/duties.ts'
import { createAdoptions, createAdoptRun } from '../adoption/create-adoption.ts'
import type { Base } from '../base.ts'
import { createContactRepairs, createRepairRun } from '../contacts/create-contacts-repair.ts'
import { createContactsImporter, createContactsImports } from '../contacts/create-contacts-import.ts'
import type { AccountSet } from '../create-accounts.ts'
import type { createStorage } from '../create-storage.ts'
import { createHistory } from '../history/create-history.ts'
import { createImporter } from '../history/create-importer.ts'
import type { InboundSet } from '../inbound/create-inbound.ts'
import type { SyncSet } from '../sync/create-sync.ts'
import { createJobPace, createJobs } from './create-jobs.ts'

type Parts = {
  settingsOf: SettingsOf
  storage: Awaited<ReturnType<typeof createStorage>>
  duties: Duties
  accounts: Pick<AccountSet, 'instances'>
  inbound: InboundSet
  sync: Pick<SyncSet, 'nameUpdate'>
  downstream: Downstream
  /** Null without DOWNSTREAM_DB_URL. */
  helpdeskDatabase: HelpdeskDatabase | null
  live: Pick<LiveChanges, 'jobChanged'>
  lateCommitMs: number | undefined
  /** Runs the jobs of the history in place of the importer. */
  importRunner: JobRunner<HistoryJob> | undefined
}

export function createJobRooms(base: Base, parts: Parts) {
  const { settingsOf, storage, duties, accounts, inbound, sync, downstream, helpdeskDatabase, live } = parts
  const { database, holds, idClock, metrics, audit } = storage
  const { instances } = accounts
  const importer = createImporter(base, {
    ...{ settingsOf, database, holds, duties, instances, inbound, downstream, helpdeskDatabase, metrics },
    ...{ lateCommitMs: parts.lateCommitMs, runner: parts.importRunner },
  })
  const pace = createJobPace(base, (destination) => inbound.posting.poster.isBusy(destination))
  const contactsImporter = createContactsImporter(base, {
    ...{ database, instances, inbound, names: sync.nameUpdate, settingsOf, pace },
  })
  const repairRun = createRepairRun(base, { database, audit, instances, inbound, pace })
  const adopt = createAdoptRun(base, { database, holds, idClock, inbound, settingsOf, pace })
  const jobs = createJobs(base, {
    ...{ database, holds, idClock, live },
    runners: { ...importer.runners, contacts_import: contactsImporter, contacts_repair: repairRun, adopt },
    ownerTagOf: (instance) => instances.find(instance)?.record.ownerTag ?? '',
  })
  const { people } = inbound
  return {
    importer,
    jobs,
    contactsImports: createContactsImports(base, jobs.jobs, inbound),
    contactRepairs: createContactRepairs(base, jobs.jobs, inbound),
    adoptions: createAdoptions(base, jobs.jobs, inbound),
    history: createHistory(base, { settingsOf, database, holds, idClock, instances, people, jobs: jobs.jobs }),
  }
}

// Creates the parts that merge contacts of a helpdesk inbox that are one person.

import { ContactRepairs } from '../../bridge/contacts/repair/contact-repairs.ts'
import { ContactScan } from '../../bridge/contacts/repair/contact-scan.ts'
import { HelpdeskRequests } from '../../bridge/contacts/repair/helpdesk-requests.ts'
import { MergeLog } from '../../bridge/contacts/repair/merge-log.ts'
import { PairMerge } from '../../bridge/contacts/repair/pair-merge.ts'
import { RepairRun } from '../../bridge/contacts/repair/repair-run.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import { HelpdeskAttempts } from '../../jobs/helpdesk-attempts.ts'
import type { HelpdeskPace } from '../../jobs/helpdesk-pace.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { Database } from '../../storage/database.ts'
import type { AuditStore } from '../../storage/stores/ledger/audit-store.ts'
import { ContactStore } from '../../storage/stores/people/contact-store.ts'
import { PeopleStore } from '../../storage/stores/people/people-store.ts'
import type { Base } from '../base.ts'
import type { InboundSet } from '../inbound/create-inbound.ts'

type RunParts = {
  database: Database
  audit: AuditStore
  instances: Pick<InstanceRegistry, 'find'>
  inbound: Pick<InboundSet, 'destinations' | 'join'>
  pace: HelpdeskPace
}

/** What runs the jobs. */
export function createRepairRun({ clock, log }: Base, parts: RunParts): RepairRun {
  const { database, audit, instances, inbound, pace } = parts
  const { destinations, join } = inbound
  const requests = new HelpdeskRequests({ attempts: new HelpdeskAttempts({ destinations, clock, log }), pace })
  const contacts = new ContactStore(database)
  const scan = new ContactScan({ requests, people: new PeopleStore(database), contacts })
  const ownerTagOf = (instance: InstanceName) => instances.find(instance)?.record.ownerTag ?? ''
  const mergeLog = new MergeLog({ audit, ownerTagOf, clock })
  const merge = new PairMerge({ requests, join, mergeLog, log })
  return new RepairRun({ requests, scan, merge, mergeLog, join, clock, log })
}

/** What starts the jobs. */
export function createContactRepairs(
  { clock }: Base,
  jobs: Jobs,
  { destinations }: Pick<InboundSet, 'destinations'>,
): ContactRepairs {
  return new ContactRepairs({ jobs, hasHelpdesk: (instance) => destinations.isConfigured(instance), clock })
}

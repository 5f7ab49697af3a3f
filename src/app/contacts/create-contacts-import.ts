// Creates the parts that make the address book of an account known to the helpdesk.

import { ContactsImportRun } from '../../bridge/contacts/import/contacts-import-run.ts'
import { ContactsImports } from '../../bridge/contacts/import/contacts-imports.ts'
import { PersonImport } from '../../bridge/contacts/import/person-import.ts'
import { createIgnoreRule } from '../../bridge/inbound/ignored-chats.ts'
import type { NameUpdate } from '../../bridge/sync/names/name-update.ts'
import { parseChat } from '../../core/address.ts'
import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import { HelpdeskAttempts } from '../../jobs/helpdesk-attempts.ts'
import type { HelpdeskPace } from '../../jobs/helpdesk-pace.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { Database } from '../../storage/database.ts'
import { ContactStore } from '../../storage/stores/people/contact-store.ts'
import { PeopleStore } from '../../storage/stores/people/people-store.ts'
import type { Base } from '../base.ts'
import type { InboundSet } from '../inbound/create-inbound.ts'

type Parts = {
  database: Database
  instances: Pick<InstanceRegistry, 'find'>
  inbound: Pick<InboundSet, 'people' | 'opener' | 'destinations'>
  names: Pick<NameUpdate, 'person'>
  settingsOf: SettingsOf
  pace: HelpdeskPace
}

/** What runs the jobs. */
export function createContactsImporter({ config, clock, log }: Base, parts: Parts): ContactsImportRun {
  const { database, instances, inbound, names, settingsOf, pace } = parts
  const { people, opener, destinations } = inbound
  const persons = new PersonImport({
    ...{ people, contacts: new ContactStore(database), names, opener, renames: config.sync.retroactiveNames },
    ownPerson: (instance: InstanceName) => {
      const own = parseChat(instances.find(instance)?.record.jid ?? '')
      return own?.kind === 'person' ? own : { phone: null, lid: null }
    },
    isIgnored: (instance, chat) => createIgnoreRule(settingsOf(instance).ignoreJids)(chat),
  })
  const attempts = new HelpdeskAttempts({ destinations, clock, log })
  return new ContactsImportRun({ store: new PeopleStore(database), persons, attempts, pace, clock })
}

/** What starts the jobs. */
export function createContactsImports(
  { config, clock }: Base,
  jobs: Jobs,
  { destinations }: Pick<InboundSet, 'destinations'>,
): ContactsImports {
  const hasHelpdesk = (instance: InstanceName) => destinations.isConfigured(instance)
  return new ContactsImports({ jobs, renames: config.sync.retroactiveNames, hasHelpdesk, clock })
}

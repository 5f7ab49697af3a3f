// Creates the parts that take over a helpdesk inbox which another bridge has filled.

import { AdoptRun } from '../../adoption/adopt-run.ts'
import { Adoptions } from '../../adoption/adoptions.ts'
import { ContactTakeOver } from '../../adoption/adopt-contact.ts'
import { HelpdeskQuestions } from '../../adoption/helpdesk-questions.ts'
import { MessageAdoption } from '../../adoption/adopt-messages.ts'
import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { Holds } from '../../core/nodes/hold.ts'
import { HelpdeskAttempts } from '../../jobs/helpdesk-attempts.ts'
import type { HelpdeskPace } from '../../jobs/helpdesk-pace.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { Clock } from '../../lib/clock.ts'
import { createRowIds } from '../../lib/row-ids.ts'
import type { Database } from '../../storage/database.ts'
import { AdoptedMessageStore } from '../../storage/stores/messages/adopted-message-store.ts'
import { MessageMapStore } from '../../storage/stores/messages/message-map-store.ts'
import { ContactStore } from '../../storage/stores/people/contact-store.ts'
import type { Base } from '../base.ts'
import type { InboundSet } from '../inbound/create-inbound.ts'

type Inbound = Pick<InboundSet, 'people' | 'conversations' | 'destinations'>

type Parts = {
  database: Database
  holds: Holds
  idClock: Pick<Clock, 'now'>
  inbound: Inbound
  settingsOf: SettingsOf
  pace: HelpdeskPace
}

/** The runner of the jobs of the type `adopt`. */
export function createAdoptRun({ config, clock, log }: Pick<Base, 'config' | 'clock' | 'log'>, parts: Parts): AdoptRun {
  const { database, holds, idClock, settingsOf, pace } = parts
  const { people, conversations, destinations } = parts.inbound
  const questions = new HelpdeskQuestions({ pace, attempts: new HelpdeskAttempts({ destinations, clock, log }) })
  const messages = new MessageAdoption({
    ...{ ...holds, clock, rememberedMs: config.inbound.messageMapTtl, newId: createRowIds(idClock) },
    map: new MessageMapStore(database),
    store: new AdoptedMessageStore(database),
  })
  const contacts = new ContactTakeOver({
    ...{ people, conversations, messages, ...holds, contacts: new ContactStore(database) },
    modeOf: (instance) => settingsOf(instance).conversationMode,
  })
  return new AdoptRun({ questions, contacts, clock, log })
}

export function createAdoptions({ clock }: Pick<Base, 'clock'>, jobs: Jobs, { destinations }: Inbound): Adoptions {
  return new Adoptions({ jobs, clock, hasInbox: (instance) => destinations.isConfigured(instance) })
}

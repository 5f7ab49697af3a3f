// Creates the parts that take over a helpdesk inbox which another bridge has filled.

import { AdoptRun } from '../../adoption/adopt-run.ts'
import { Adoptions } from '../../adoption/adoptions.ts'
import { ContactTakeOver } from '../../adoption/adopt-contact.ts'
import { HelpdeskQuestions } from '../../adoption/helpdesk-questions.ts'
import { MessageAdoption } from '../../adoption/adopt-messages.ts'
import { RequestPace } from '../../adoption/request-pace.ts'
import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import { createRowIds } from '../../lib/row-ids.ts'
import type { Database } from '../../storage/database.ts'
import { AdoptedMessageStore } from '../../storage/stores/messages/adopted-message-store.ts'
import { MessageMapStore } from '../../storage/stores/messages/message-map-store.ts'
import { ContactStore } from '../../storage/stores/people/contact-store.ts'
import type { Base } from '../base.ts'
import type { InboundSet } from '../inbound/create-inbound.ts'

type Inbound = Pick<InboundSet, 'people' | 'conversations' | 'destinations' | 'posting'>

type Parts = {
  database: Database
  epoch: () => number
  idFloorMs: () => number
  inbound: Inbound
  settingsOf: SettingsOf
}

/** The runner of the jobs of the type `adopt`. */
export function createAdoptRun({ config, clock, log }: Pick<Base, 'config' | 'clock' | 'log'>, parts: Parts): AdoptRun {
  const { database, epoch, idFloorMs, settingsOf } = parts
  const { people, conversations, destinations, posting } = parts.inbound
  const pace = new RequestPace({ clock, isBusy: (destination) => posting.poster.isBusy(destination) })
  const questions = new HelpdeskQuestions({
    ...{ pace, clock, log },
    waitForTarget: (instance, signal) => destinations.waitForTarget(instance, (wait) => wait(), signal),
  })
  const messages = new MessageAdoption({
    ...{ epoch, clock, rememberedMs: config.inbound.messageMapTtl, newId: createRowIds(clock, idFloorMs) },
    map: new MessageMapStore(database),
    store: new AdoptedMessageStore(database),
  })
  const contacts = new ContactTakeOver({
    ...{ people, conversations, messages, epoch, contacts: new ContactStore(database) },
    modeOf: (instance) => settingsOf(instance).conversationMode,
  })
  return new AdoptRun({ questions, contacts, clock, log })
}

export function createAdoptions({ clock }: Pick<Base, 'clock'>, jobs: Jobs, { destinations }: Inbound): Adoptions {
  return new Adoptions({ jobs, clock, hasInbox: (instance) => destinations.isConfigured(instance) })
}

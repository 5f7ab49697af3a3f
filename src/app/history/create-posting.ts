// Creates the parts that post messages of the history.

import type { HelpdeskTarget } from '../../bridge/conversations/conversation-opener.ts'
import type { EventContexts } from '../../bridge/conversations/event-context.ts'
import type { People } from '../../bridge/people/people.ts'
import { ImportNotes } from '../../history/posting/import-notes.ts'
import { PastContent } from '../../history/posting/past-content.ts'
import { PastDrafts } from '../../history/posting/past-drafts.ts'
import type { DatedPost, PastDates } from '../../history/posting/past-message.ts'
import { PastOutcomes } from '../../history/posting/past-outcomes.ts'
import type { PastResult } from '../../history/posting/past-outcomes.ts'
import { PastPoster } from '../../history/posting/past-poster.ts'
import { PastSearch } from '../../history/posting/past-search.ts'
import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { Contact, ContactSpec } from '../../core/helpdesk/contact.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { Holds } from '../../core/nodes/hold.ts'
import type { Metrics } from '../../ledger/metrics.ts'
import type { Database } from '../../storage/database.ts'
import { FencedWriter } from '../../storage/stores/fenced-writer.ts'
import { HistoryStore } from '../../storage/stores/history/history-store.ts'
import { MessageMapStore } from '../../storage/stores/messages/message-map-store.ts'
import { ContactStore } from '../../storage/stores/people/contact-store.ts'
import type { Base } from '../base.ts'
import type { InboundSet } from '../inbound/create-inbound.ts'

type Parts = {
  settingsOf: SettingsOf
  database: Database
  holds: Holds
  people: People
  contexts: EventContexts
  /** The contact of a chat, which is created when there is none. */
  contactOf: (spec: ContactSpec, target: HelpdeskTarget) => Promise<Contact>
  posting: InboundSet['posting']
  dates: PastDates
  metrics: Pick<Metrics, 'realtimeEvents'>
  /** How long after a lost answer the helpdesk may still carry out the request. */
  lateCommitMs: number
}

export type PostingSet = { poster: PastPoster; notes: ImportNotes }

export function createPosting(
  { config, clock, log }: Pick<Base, 'config' | 'clock' | 'log'>,
  parts: Parts,
): PostingSet {
  const { settingsOf, database, holds, people, contexts, contactOf, dates, metrics, lateCommitMs } = parts
  const { composer, files, poster } = parts.posting
  const { mediaMaxBytes } = config.inbound
  const count = (instance: InstanceName, result: PastResult) => {
    metrics.realtimeEvents.inc({ feature: 'history_import', result, instance })
  }
  const search = new PastSearch({ contactOf, contacts: new ContactStore(database), clock })
  const writer = new FencedWriter(database, holds.holdOf)
  const correctDate = async (instance: InstanceName, posted: DatedPost) => {
    const steps = dates.stepsOf(posted)
    if (steps.length > 0) await writer.write(instance, ...steps)
  }
  return {
    poster: new PastPoster({
      drafts: new PastDrafts({ people, contexts, composer, poster }),
      map: new MessageMapStore(database),
      search,
      content: new PastContent({ files, mediaMaxBytes, log }),
      poster,
      outcomes: new PastOutcomes({ history: new HistoryStore(database), count, ...holds }),
      dates,
      log,
    }),
    notes: new ImportNotes({ settingsOf, clock, lateCommitMs, correctDate }),
  }
}

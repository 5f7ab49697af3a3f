// Creates the parts that import the history of chats for a job.

import type { ConversationOpener } from '../../bridge/conversations/conversation-opener.ts'
import type { EventContexts } from '../../bridge/conversations/event-context.ts'
import { createIgnoredChats } from '../../bridge/inbound/ignored-chats.ts'
import type { DestinationRouter } from '../../bridge/inbound/destination-router.ts'
import type { People } from '../../bridge/people/people.ts'
import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { DestinationKey, InstanceName } from '../../core/ids.ts'
import type { NetworkSession } from '../../core/network.ts'
import { heldRows } from '../../core/nodes/duties.ts'
import type { Duties } from '../../core/nodes/duties.ts'
import type { Holds } from '../../core/nodes/hold.ts'
import { AbandonedImports } from '../../history/import/abandoned-imports.ts'
import { PhoneQuestions } from '../../history/import/ask-phone.ts'
import { ConversationChoice } from '../../history/import/choose-conversation.ts'
import { ChatEnding } from '../../history/import/end-chat.ts'
import { HelpdeskAttempts } from '../../jobs/helpdesk-attempts.ts'
import { ChatImport } from '../../history/import/import-chat.ts'
import { ImportPace } from '../../history/import/import-pace.ts'
import { ImportPlaces } from '../../history/import/import-places.ts'
import { RowImport } from '../../history/import/import-row.ts'
import { ImportRun } from '../../history/import/import-run.ts'
import type { ImportNotes } from '../../history/posting/import-notes.ts'
import type { PastPoster } from '../../history/posting/past-poster.ts'
import { Ticker } from '../../lib/ticker.ts'
import type { Database } from '../../storage/database.ts'
import { BridgedStore } from '../../storage/stores/history/bridged-store.ts'
import { HistoryStore } from '../../storage/stores/history/history-store.ts'
import { ImportMarks } from '../../storage/stores/history/import-marks.ts'
import { ImportStore } from '../../storage/stores/history/import-store.ts'
import { JobStore } from '../../storage/stores/jobs/job-store.ts'
import { MessageMapStore } from '../../storage/stores/messages/message-map-store.ts'
import { ContactStore } from '../../storage/stores/people/contact-store.ts'
import type { Base } from '../base.ts'

export type ImportParts = {
  settingsOf: SettingsOf
  database: Database
  holds: Holds
  duties: Duties
  people: People
  contexts: EventContexts
  opener: ConversationOpener
  destinations: Pick<DestinationRouter, 'find' | 'waitForTarget' | 'hold'>
  poster: PastPoster
  notes: ImportNotes
  sessionOf: (instance: InstanceName) => Pick<NetworkSession, 'requestHistory'> | undefined
  /** When the account was linked last. */
  pairedAtOf: (instance: InstanceName) => number | null
  /** Whether the helpdesk inbox has many live messages at the moment. */
  isBusy: (destination: DestinationKey) => boolean
  /** How long after a lost answer the helpdesk may still carry out the request. */
  lateCommitMs: number
  /** Counts what became of an event of the history. */
  count: (instance: InstanceName, result: 'wa_error' | 'ds_error') => void
}

const abandonedMs = 10_000

export function createImport({ config, clock, log }: Pick<Base, 'config' | 'clock' | 'log'>, parts: ImportParts) {
  const { database, holds, duties, people, contexts, destinations, lateCommitMs, count } = parts
  const stores = createStores(parts)
  const { history, bridged, imports, marks } = stores
  const pace = new ImportPace({ clock, ratePerSec: config.history.ratePerSec, isBusy: parts.isBusy })
  const attempts = new HelpdeskAttempts({ destinations, clock, log })
  const places = createPlaces({ clock }, parts, stores, pace)
  const ending = new ChatEnding({ attempts, places, history, imports, marks, ...holds, clock, log })
  const onRefused = (instance: InstanceName) => {
    count(instance, 'ds_error')
  }
  const rows = new RowImport({ attempts, places, poster: parts.poster, history, ...holds, onRefused, log })
  const map = new MessageMapStore(database)
  const phone = new PhoneQuestions({ history, map, imports, sessionOf: parts.sessionOf, clock, log })
  const onUnanswered = (instance: InstanceName) => {
    count(instance, 'wa_error')
  }
  const chats = new ChatImport({ history, phone, contexts, rows, ending, onUnanswered })
  const planning = { history, bridged, people, isIgnored: createIgnoredChats(parts.settingsOf) }
  const chatsAtOnce = chatsFor(config.history.ratePerSec)
  const runner = new ImportRun({ imports, history, planning, chats, pace, clock, chatsAtOnce })
  const jobs = new JobStore(database, holds.holdOf, holds.nodeHold)
  const abandoned = new AbandonedImports({
    ...{ contexts, imports, jobs, ending, destinations, clock, log, lateCommitMs },
  })
  const work = () => abandoned.tidyUp(heldRows(duties))
  return { runner, workers: [new Ticker({ name: 'abandoned-imports', everyMs: abandonedMs, work, clock, log })] }
}

function createStores({ database, holds }: ImportParts) {
  return {
    history: new HistoryStore(database),
    bridged: new BridgedStore(database),
    imports: new ImportStore(database, holds.holdOf),
    marks: new ImportMarks(database),
    contacts: new ContactStore(database),
  }
}

function createPlaces(
  { clock }: Pick<Base, 'clock'>,
  { opener, pairedAtOf, lateCommitMs, notes, holds }: ImportParts,
  { contacts, bridged, imports, marks }: ReturnType<typeof createStores>,
  pace: ImportPace,
): ImportPlaces {
  const choice = new ConversationChoice({ contacts, opener, bridged, imports, pairedAtOf, clock, lateCommitMs })
  return new ImportPlaces({ choice, imports, bridged, marks, notes, pace, ...holds, clock })
}

/** A conversation gets at most three messages per second, so one chat alone does not use the whole rate. */
function chatsFor(ratePerSec: number): number {
  return Math.min(20, Math.max(4, Math.ceil(ratePerSec / 3) + 1))
}

// Creates the parts that bring the names of people and groups to the helpdesk.

import { renderHeader } from '../../bridge/inbound/compose/render.ts'
import { HeaderRewriter } from '../../bridge/sync/names/header-rewriter.ts'
import { NameReconciliation } from '../../bridge/sync/names/name-reconciliation.ts'
import { NameSync } from '../../bridge/sync/names/name-sync.ts'
import { NameUpdate } from '../../bridge/sync/names/name-update.ts'
import { RealtimeCounts } from '../../bridge/sync/realtime-counts.ts'
import { firstSweepMs, Ticker } from '../../lib/ticker.ts'
import { ContactStore } from '../../storage/stores/people/contact-store.ts'
import { PeopleStore } from '../../storage/stores/people/people-store.ts'
import type { SyncParts } from './sync-parts.ts'

const pruneMs = 3_600_000

type NameParts = Pick<
  SyncParts,
  | (
      | 'config'
      | 'settingsOf'
      | 'clock'
      | 'log'
      | 'database'
      | 'metrics'
      | 'people'
      | 'conversations'
      | 'contexts'
      | 'targetOf'
    )
  | ('contactNames' | 'headerHistory' | 'helpdeskDatabase')
>

export function createNames(parts: NameParts) {
  const { config, clock, log, database, metrics, people, conversations, contexts, targetOf } = parts
  const { settingsOf, contactNames, headerHistory, helpdeskDatabase } = parts
  const isOn = config.sync.retroactiveNames
  const counts = new RealtimeCounts({ metrics })
  const headers = new HeaderRewriter({
    database: helpdeskDatabase,
    history: headerHistory,
    contexts,
    headerOf: (instance, person) => renderHeader(person, settingsOf(instance).headerTemplate),
  })
  const update = new NameUpdate({ people, contacts: new ContactStore(database), names: contactNames, headers })
  const sync = new NameSync({ isOn, update, targetOf, counts, clock, log })
  people.onRenamed((instance, renamed) => {
    sync.personRenamed(instance, renamed)
  })
  conversations.onOutdatedName((chat) => {
    sync.nameOutdated(chat)
  })
  const store = new PeopleStore(database)
  const reconciliation = new NameReconciliation({ isOn, store, update, targetOf, counts, log })
  const prune = () => headerHistory.prune()
  const worker = new Ticker({ name: 'header-prune', everyMs: pruneMs, firstMs: firstSweepMs, work: prune, clock, log })
  return { sync, update, reconciliation, worker }
}

// No statement of a store reads a large table from one end to the other, except for those that are listed with a reason.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engines, newDatabase } from '../harness/databases.ts'
import { openPlanner } from './harness/planner.ts'
import { recordStatements } from './harness/recorded-statements.ts'

/** Tables that grow with messages, people or days. All others have a row for each account, tenant or helpdesk inbox. */
const largeTables = [
  'usage',
  'audit',
  'session_keys',
  'opened',
  'unfinished',
  'inbox',
  'people',
  'person_phones',
  'contacts',
  'contact_pictures',
  'conversations',
  'conversation_chats',
  'message_map',
  'deliveries',
  'outbox',
  'settled_callbacks',
  'rejected_calls',
  'request_keys',
  'history_messages',
  'history_chats',
  'message_dates',
  'labelled_chats',
  'label_agreements',
  'state_changes',
]

/** Calls that may do so, each with the reason. */
const allowed: Readonly<Record<string, string>> = {
  'DestinationStore.identify': 'moves all rows of a place, once, when its helpdesk inbox turns out to be another one',
  'RestoredStore.prepare': 'looks through everything that waits, once, after a backup was restored',
  'InstanceStore.insert': 'removes what an instance of the same name has left in the inbox',
  'InstanceStore.remove': 'removes all rows of the instance',
  'DeliveryStore.list': 'reads the newest of the instance in the order of the index, up to a limit',
  'UsageStore.totals': 'sums everything up for the public page, which keeps the result for a while',
  'InboxStore.counts': 'counts what waits for the helpdesk',
  'WaitingStore.counts': 'counts what waits for the helpdesk, for an overview with instances of other nodes',
  'InboxStore.dropOrphans': 'looks through what waits for the helpdesk, once an hour',
  'BridgedStore.chats': 'reads all chats of the instance, once for each import of all chats',
  'PeopleStore.countNamed': 'counts the named people of an instance, once for each import of the address book',
  'AuditStore.listByKey': 'looks through the entries of an instance by its index, once for each repair of contacts',
  'ContactStore.conversationsOf':
    'looks for the conversations of a contact that is merged into another one, which is rare',
  'MessageMapStore.dropInstance': 'removes a batch of the rows of a deleted instance',
  'HistoryStore.chats': 'lists the chats of an instance, once for each job',
  'HistoryStore.count': 'counts what an instance that is deleted has not imported',
  'HistoryRemoval.dropInstance': 'removes a batch of the rows of a deleted instance',
  'LabelStore.labelledChats':
    'reads the labelled chats of an instance, once after a start and when all labels are read',
  'LabelAgreementStore.agreedChats': 'reads the labelled chats of an instance, once after a start',
  'OutboxStore.countPending': 'counts the rows that are not sent, on an index',
  'OutboxStore.countPending of all instances': 'as OutboxStore.countPending',
  'OutboxStore.liveOfDeleted': 'looks through the rows that are not sent, once after a start',
  'DeliveryStore.pending': 'reads the deliveries that have not ended, once after a start',
  'DeliveryStore.pending of all instances': 'as DeliveryStore.pending',
  'DeliveryStore.pendingOfDeleted': 'reads the deliveries that have not ended, once after a start',
  'correctFutureTimes of all instances':
    'looks through what is not sent, once after a start and when the clock went back',
  'HistoryRemoval.prune': 'looks through what jobs have imported of chats that are not done, once an hour',
}

for (const engine of engines) {
  test(`no statement of a store scans a large table on ${engine}`, async () => {
    await using opened = await newDatabase(engine)
    const { location } = opened
    const recorded = await recordStatements(location)
    await using planner = await openPlanner(location)
    const found: string[] = []
    for (const [name, statements] of recorded) {
      for (const statement of name in allowed ? [] : statements) {
        const scanned = (await planner.plan(statement)).filter(
          (read) => read.isWhole && largeTables.includes(read.table),
        )
        found.push(...scanned.map(({ table }) => `${name} scans ${table}: ${statement}`))
      }
    }
    assert.deepEqual(found, [])
  })
}

/** Calls that would be slow with another index, although they would not read the whole table. */
const usedIndexes: readonly [index: string, ...calls: string[]][] = [
  // Reactions are never marked read, so a conversation has more and more of them.
  ['message_map_unread_messages', 'SentMessageStore.unread', 'SendContextStore.read', 'SendContextStore.recall'],
  ['message_map_by_tick', 'TickStore.due', 'TickStore.postpone'],
  // Only the newest deliveries are listed, and an instance has more and more of them.
  ['deliveries_by_instance', 'DeliveryStore.list'],
  // Most messages have no header, or none that is still known.
  ['message_map_headers', 'HeaderStore.find', 'HeaderStore.trim'],
  ['message_map_old_headers', 'HeaderStore.prune'],
  // A chat has more and more rows.
  ['message_map_by_chat', 'MessageMapStore.oldestOf'],
  ['history_messages_pending', 'HistoryStore.pending', 'HistoryStore.chats'],
  ['history_messages_by_age', 'HistoryRemoval.prune'],
  ['history_messages_of_job', 'HistoryRemoval.prune', 'HistoryStore.outcomes', 'HistoryStore.removeStatements'],
  ['message_dates_due', 'MessageDateStore.due'],
  ['label_agreements_due', 'LabelAgreementStore.due', 'LabelAgreementStore.nextDueAt'],
  ['labelled_chats_by_label', 'LabelStore.chatsWith'],
  ['state_changes_by_instance', 'StateChangeStore.since'],
  ['state_changes_by_time', 'StateChangeStore.prune'],
  // Every scrape of the metrics asks, also while many messages wait.
  ['inbox_by_instance', 'QueueAgeStore.received'],
  ['outbox_by_status', 'QueueAgeStore.outgoing'],
  // Most messages were sent long ago.
  ['outbox_by_settled', 'RecentSendStore.since'],
  ['outbox_unsure', 'ShownStore.planUnsure'],
  // Every start corrects times.
  ['label_agreements_due', 'correctFutureTimes of all instances'],
  ['rejected_calls_by_time', 'correctFutureTimes of all instances'],
]

test('the rows of a chat, a job or a piece of work are found by the index that is made for them', async () => {
  await using opened = await newDatabase('sqlite')
  const { location } = opened
  const recorded = await recordStatements(location)
  await using planner = await openPlanner(location)
  for (const [index, ...calls] of usedIndexes) {
    for (const name of calls) {
      const reads = await Promise.all((recorded.get(name) ?? []).map((statement) => planner.plan(statement)))
      const indexes = reads.flat().map((read) => read.index)
      assert.ok(indexes.includes(index), `${name} uses ${indexes.join()}`)
    }
  }
})

test('no statement binds a limit on sqlite, which would plan the statement anew at each run', async () => {
  await using opened = await newDatabase('sqlite')
  const recorded = await recordStatements(opened.location)
  const binding = [...recorded].flatMap(([name, statements]) =>
    statements.filter((statement) => /\blimit \?/i.test(statement)).map((statement) => `${name}: ${statement}`),
  )
  assert.deepEqual(binding, [])
})

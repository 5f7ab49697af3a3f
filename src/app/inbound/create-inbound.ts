// Creates the parts that take received messages to the helpdesk.

import type { InstanceName } from '../../core/ids.ts'
import { heldRows } from '../../core/nodes/duties.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import { AwaitedCallbacks } from '../../bridge/conversations/awaited-callbacks.ts'
import { ContactJoin } from '../../bridge/conversations/contact-join.ts'
import { ContactMerger } from '../../bridge/conversations/contact-merger.ts'
import { ContactNames } from '../../bridge/conversations/contact-names.ts'
import { ConversationDirectory } from '../../bridge/conversations/conversation-directory.ts'
import { ConversationOpener } from '../../bridge/conversations/conversation-opener.ts'
import { MergeGate } from '../../bridge/conversations/merge-gate.ts'
import { OpeningClaims } from '../../bridge/conversations/opening-claims.ts'
import { OfferedChoices } from '../../bridge/conversations/offered-choices.ts'
import { LostCallbacks } from '../../bridge/conversations/lost-callbacks.ts'
import { EventContexts } from '../../bridge/conversations/event-context.ts'
import type { EventComposer } from '../../bridge/inbound/compose/event-composer.ts'
import { textsOf } from '../../bridge/inbound/compose/texts.ts'
import type { FileFetcher } from '../../bridge/inbound/files/file-fetcher.ts'
import type { HeldDestinations } from '../../bridge/inbound/held-destinations.ts'
import type { DestinationRouter } from '../../bridge/inbound/destination-router.ts'
import { InboundMetrics } from '../../bridge/inbound/inbound-metrics.ts'
import { InboxWorker } from '../../bridge/inbound/inbox-worker.ts'
import type { LateFiles } from '../../bridge/inbound/late-files.ts'
import { MessagePruner } from '../../bridge/inbound/message-pruner.ts'
import type { ParkedRows } from '../../bridge/inbound/parked-rows.ts'
import { InboundReception } from '../../bridge/inbound/reception.ts'
import type { ExactlyOncePoster } from '../../bridge/posting/exactly-once-poster.ts'
import { GroupDirectory } from '../../bridge/people/group-directory.ts'
import { People } from '../../bridge/people/people.ts'
import { StoredHeaderHistory } from '../../bridge/sync/names/header-history.ts'
import type { HeaderHistory } from '../../bridge/sync/names/header-history.ts'
import { RememberedHeaders } from '../../bridge/sync/names/remembered-headers.ts'
import type { Metrics } from '../../ledger/metrics.ts'
import { createRowIds } from '../../lib/row-ids.ts'
import { firstSweepMs, Ticker } from '../../lib/ticker.ts'
import { createEventDelivery } from './create-event-delivery.ts'
import { createStores, lateCommitMsOf, ownPerson, recordOf, sessionOf } from './inbound-parts.ts'
import type { InboundParts, InboundStores } from './inbound-parts.ts'

export type InboundSet = {
  people: People
  conversations: ConversationDirectory
  contexts: EventContexts
  choices: OfferedChoices
  groups: GroupDirectory
  contactNames: ContactNames
  /** With which headers messages were posted. */
  headerHistory: HeaderHistory
  opener: ConversationOpener
  /** Merges two contacts. */
  join: ContactJoin
  /** Says to which helpdesk inbox an instance delivers. */
  destinations: Pick<DestinationRouter, 'find' | 'isConfigured' | 'waitForTarget' | 'hold'>
  /** What imports post with. */
  posting: { composer: EventComposer; files: FileFetcher; poster: ExactlyOncePoster }
  /** Hears what the network receives. */
  reception: InboundReception
  inbound: InboxWorker
  parked: ParkedRows
  held: HeldDestinations
  lostCallbacks: LostCallbacks
  /** Every part that keeps memory per instance. The worker is first: it ends the work that uses the others. */
  perInstance: readonly [worker: PerInstance, ...memory: PerInstance[]]
  /** How many received events of an instance did not reach the helpdesk. */
  undelivered: (instance: InstanceName) => Promise<number>
  /** Removes the record of the messages of a deleted instance. */
  forget: (instance: InstanceName) => Promise<void>
  workers: Ticker[]
  lateFiles: LateFiles
}

const awaitedMs = 15_000
const lateFilesMs = 60_000
const pruneMs = 3_600_000

export function createInbound(parts: InboundParts): InboundSet {
  const { clock, log, metrics, usage, holds } = parts
  const newId = createRowIds(parts.idClock ?? clock)
  const stores = createStores(parts.database)
  const ownerTagOf = (instance: InstanceName) => recordOf(parts, instance)?.ownerTag ?? ''
  const inboundMetrics = new InboundMetrics({ metrics, usage, ownerTagOf })
  const people = new People({ store: stores.people, ...holds, newId, clock })
  const groups = new GroupDirectory({ sessionOf: (instance) => sessionOf(parts, instance), clock, log })
  const lostCallbacks = new LostCallbacks({ clock, log })
  const conversations = createConversations(parts, { stores, people, groups, lostCallbacks })
  const awaited = new AwaitedCallbacks({ callbacks: lostCallbacks, clock, log })
  const choices = new OfferedChoices({ store: stores.offers, clock })
  const headerHistory = createHeaderHistory(parts, stores)
  const delivery = createEventDelivery(parts, {
    ...{ stores, conversations, choices, awaited, headerHistory, metrics: inboundMetrics, newId },
  })
  const worker = new InboxWorker({
    inbox: stores.inbox,
    parked: delivery.parked,
    contexts: conversations.contexts,
    groups,
    directory: conversations.directory,
    delivery: delivery.delivery,
    poster: delivery.poster,
    onCounted: parts.onCounted,
    clock,
    log,
  })
  people.onMerged((instance, ids) => {
    worker.merged(instance, ids)
    choices.merged(instance)
    headerHistory.merged(instance, ids)
  })
  watchInbox(metrics, worker, delivery.held)
  const pruner = createPruner(parts, stores)
  const { held, parked, composer, poster, files, headers, lateFiles } = delivery
  return {
    people,
    conversations: conversations.directory,
    contexts: conversations.contexts,
    choices,
    groups,
    contactNames: conversations.names,
    headerHistory,
    opener: conversations.opener,
    join: conversations.join,
    destinations: delivery.destinations,
    posting: { composer, files, poster },
    reception: new InboundReception({ worker, people, metrics: inboundMetrics, traces: parts.traces, log }),
    inbound: worker,
    parked,
    held,
    lostCallbacks,
    perInstance: [worker, held, people, groups, conversations.directory, files, headers, headerHistory, choices],
    undelivered: async (instance) => {
      const counts = await stores.inbox.counts(instance)
      return counts.pending + counts.parked
    },
    forget: (instance) => pruner.forget(instance),
    workers: createWorkers(parts, lateFiles, pruner, awaited),
    lateFiles,
  }
}

type ConversationParts = {
  stores: InboundStores
  people: People
  groups: GroupDirectory
  lostCallbacks: LostCallbacks
}

function createConversations(
  parts: InboundParts,
  { stores, people, groups, lostCallbacks: callbacks }: ConversationParts,
) {
  const { settingsOf, clock, log, holds } = parts
  const store = stores.contacts
  const gate = new MergeGate()
  const lateCommitMs = lateCommitMsOf(parts)
  const join = new ContactJoin({ store, gate, ...holds, clock, lateCommitMs })
  const merger = new ContactMerger({ store, join, ...holds, log })
  const claims = new OpeningClaims({ openings: stores.openings, ...holds, clock, lateCommitMs })
  const opener = new ConversationOpener({ store, claims, gate, ...holds, clock, settingsOf })
  const names = new ContactNames({ store, ...holds })
  const directory = new ConversationDirectory({
    store,
    merger,
    opener,
    names,
    callbacks,
    ...holds,
    clock,
    log,
    settingsOf,
  })
  const groupWord = (instance: InstanceName) => textsOf[settingsOf(instance).locale].group
  const contexts = new EventContexts({ people, groups, groupWord, ownPerson: (instance) => ownPerson(parts, instance) })
  join.onJoined((destination, contactId) => {
    directory.contactJoined(destination, contactId)
  })
  return { contexts, directory, names, opener, gate, join }
}

function createHeaderHistory({ config, clock, holds, duties }: InboundParts, stores: InboundStores): HeaderHistory {
  const { retroactivePersist, retroactiveTtl, retroactiveCap } = config.sync
  const limits = { ttlMs: retroactiveTtl, perSender: retroactiveCap }
  if (!retroactivePersist) return new RememberedHeaders({ limits, clock })
  return new StoredHeaderHistory({ store: stores.headers, limits, ...holds, duties, clock })
}

function createPruner({ config, clock, holds }: InboundParts, { inbox, map }: InboundStores): MessagePruner {
  return new MessagePruner({ inbox, map, ...holds, clock, messageMapTtlMs: config.inbound.messageMapTtl })
}

function createWorkers(
  { duties, clock, log }: InboundParts,
  lateFiles: LateFiles,
  pruner: MessagePruner,
  awaited: AwaitedCallbacks,
): Ticker[] {
  const lookAtPosts = () => {
    awaited.run()
    return Promise.resolve()
  }
  return [
    new Ticker({ name: 'awaited-callbacks', everyMs: awaitedMs, work: lookAtPosts, clock, log }),
    new Ticker({ name: 'late-files', everyMs: lateFilesMs, work: () => lateFiles.run(heldRows(duties)), clock, log }),
    new Ticker({
      name: 'message-map-prune',
      everyMs: pruneMs,
      firstMs: firstSweepMs,
      work: () => pruner.run(),
      clock,
      log,
    }),
  ]
}

function watchInbox(metrics: Metrics, worker: InboxWorker, held: HeldDestinations): void {
  metrics.gauges.watchInbox(() => {
    const { chats, longest } = worker.queues()
    return { ...worker.counts(), lanes: chats, longestLane: longest, held: held.list().length }
  })
}

// Creates the parts that deliver received messages to the helpdesk.

import { parseChat } from '../core/address.ts'
import type { Person } from '../core/address.ts'
import type { Destination, Downstream } from '../core/downstream.ts'
import type { InstanceName } from '../core/ids.ts'
import type { Network } from '../core/network.ts'
import type { PerInstance } from '../core/per-instance.ts'
import { ContactMerger } from '../bridge/conversations/contact-merger.ts'
import { ConversationDirectory } from '../bridge/conversations/conversation-directory.ts'
import { ConversationOpener } from '../bridge/conversations/conversation-opener.ts'
import { EventContexts } from '../bridge/conversations/event-context.ts'
import { EventComposer } from '../bridge/inbound/compose/event-composer.ts'
import { GroupHeaders } from '../bridge/inbound/compose/group-headers.ts'
import { textsOf } from '../bridge/inbound/compose/texts.ts'
import { DeliveryAttempt } from '../bridge/inbound/delivery-attempt.ts'
import { DestinationRouter } from '../bridge/inbound/destination-router.ts'
import { EarlierMessages } from '../bridge/inbound/earlier-messages.ts'
import { EventContent } from '../bridge/inbound/event-content.ts'
import { EventDelivery } from '../bridge/inbound/event-delivery.ts'
import { ExactlyOncePoster } from '../bridge/inbound/exactly-once-poster.ts'
import { FileFetcher } from '../bridge/inbound/files/file-fetcher.ts'
import { HeldDestinations } from '../bridge/inbound/held-destinations.ts'
import { createIgnoreRule } from '../bridge/inbound/ignored-chats.ts'
import { InboundMetrics } from '../bridge/inbound/inbound-metrics.ts'
import { InboxWorker } from '../bridge/inbound/inbox-worker.ts'
import { LateFiles } from '../bridge/inbound/late-files.ts'
import { ParkedRows } from '../bridge/inbound/parked-rows.ts'
import { InboundReception } from '../bridge/inbound/reception.ts'
import { RowFinisher } from '../bridge/inbound/row-finisher.ts'
import { GroupDirectory } from '../bridge/people/group-directory.ts'
import { People } from '../bridge/people/people.ts'
import type { Config } from '../config/config.ts'
import type { InstanceRegistry } from '../instances/instance-registry.ts'
import type { Metrics } from '../ledger/metrics.ts'
import type { Usage } from '../ledger/usage.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { createRowIds } from '../lib/row-ids.ts'
import { Ticker } from '../lib/ticker.ts'
import type { Database } from '../storage/database.ts'
import { InboxStore } from '../storage/stores/messages/inbox-store.ts'
import { MessageMapStore } from '../storage/stores/messages/message-map-store.ts'
import { ContactStore } from '../storage/stores/people/contact-store.ts'
import { PeopleStore } from '../storage/stores/people/people-store.ts'

export type InboundParts = {
  config: Config
  clock: Clock
  log: Log
  database: Database
  epoch: () => number
  instances: Pick<InstanceRegistry, 'find' | 'list'>
  network: Pick<Network, 'download' | 'unseal'>
  downstream: Downstream
  routing: { destinationOf(record: { owner_tag: string; inbox_id: number }): Promise<Destination | null> }
  metrics: Metrics
  usage: Usage
  /** Only for tests: replaces the limit of the downstream. */
  lateCommitMs?: number | undefined
}

export type InboundSet = {
  people: People
  /** Hears what the network receives. */
  reception: InboundReception
  inbound: InboxWorker
  parked: ParkedRows
  held: HeldDestinations
  /** Every part that keeps memory per instance. The worker is first: it ends the work that uses the others. */
  perInstance: readonly PerInstance[]
  /** How many received events of an instance did not reach the helpdesk. */
  undelivered: (instance: InstanceName) => Promise<number>
  /** Removes the record of the messages of a deleted instance. */
  forget: (instance: InstanceName) => Promise<void>
  workers: Ticker[]
  lateFiles: LateFiles
}

const lateFilesMs = 60_000
const pruneMs = 3_600_000
const pruneBatch = 1000

export function createInbound(parts: InboundParts): InboundSet {
  const { clock, log, metrics, usage, epoch } = parts
  const newId = createRowIds(clock)
  const stores = createStores(parts.database)
  const ownerTagOf = (instance: InstanceName) => recordOf(parts, instance)?.owner_tag ?? ''
  const inboundMetrics = new InboundMetrics({ metrics, usage, ownerTagOf })
  const people = new People({
    store: stores.people,
    epoch,
    newId,
    clock,
    onMerged: (instance, ids) => {
      worker.merged(instance, ids)
    },
  })
  const groups = new GroupDirectory({ sessionOf: (instance) => sessionOf(parts, instance), clock, log })
  const conversations = createConversations(parts, stores, people, groups)
  const delivery = createDelivery(parts, { stores, conversations, metrics: inboundMetrics, newId })
  const worker = new InboxWorker({
    inbox: stores.inbox,
    parked: delivery.parked,
    contexts: conversations.contexts,
    groups,
    directory: conversations.directory,
    delivery: delivery.delivery,
    poster: delivery.poster,
    clock,
    log,
  })
  watchInbox(metrics, worker, delivery.held)
  const { held, parked, files, headers, lateFiles } = delivery
  return {
    people,
    reception: new InboundReception({ worker, people, metrics: inboundMetrics, log }),
    inbound: worker,
    parked,
    held,
    perInstance: [worker, held, people, groups, conversations.directory, files, headers],
    undelivered: async (instance) => {
      const counts = await stores.inbox.counts(instance)
      return counts.pending + counts.parked
    },
    forget: (instance) => dropMap(parts, stores.map, instance),
    workers: createWorkers(parts, stores, lateFiles),
    lateFiles,
  }
}

type Stores = ReturnType<typeof createStores>

function createStores(database: Database) {
  return {
    inbox: new InboxStore(database),
    map: new MessageMapStore(database),
    contacts: new ContactStore(database),
    people: new PeopleStore(database),
  }
}

function createConversations(parts: InboundParts, stores: Stores, people: People, groups: GroupDirectory) {
  const { config, clock, log, epoch } = parts
  const mode = config.downstream.conversationMode
  const store = stores.contacts
  const merger = new ContactMerger({ store, epoch, log })
  const opener = new ConversationOpener({ store, epoch, clock, mode, lateCommitMs: lateCommitMsOf(parts) })
  const directory = new ConversationDirectory({ store, merger, opener, epoch, clock, log, mode })
  const groupWord = textsOf[config.inbound.locale].group
  const contexts = new EventContexts({ people, groups, groupWord, ownPerson: (instance) => ownPerson(parts, instance) })
  return { contexts, directory }
}

type DeliveryParts = {
  stores: Stores
  conversations: ReturnType<typeof createConversations>
  metrics: InboundMetrics
  newId: () => string
}

function createDelivery(parts: InboundParts, { stores, conversations, metrics, newId }: DeliveryParts) {
  const { config, clock, log, epoch, downstream } = parts
  const { inbox, map } = stores
  const { contexts, directory } = conversations
  const held = new HeldDestinations({ clock, log })
  const destinations = new DestinationRouter({ route: (instance) => destinationOf(parts, instance), held, downstream })
  const poster = new ExactlyOncePoster({
    map,
    epoch,
    newId,
    clock,
    log,
    onPosted: (ms) => {
      metrics.posted(ms)
    },
    lateCommitMs: lateCommitMsOf(parts),
  })
  const earlier = new EarlierMessages({ map, poster })
  const parked = new ParkedRows({ inbox, metrics, epoch, clock, log })
  const files = createFiles(parts)
  const headers = new GroupHeaders({ ttlMs: config.inbound.groupHeaderTtl, clock })
  const attempts = new DeliveryAttempt({
    isIgnored: createIgnoreRule(config.inbound.ignoreJids),
    contexts,
    earlier,
    composer: createComposer(parts, map),
    headers,
    directory,
    content: createContent(parts, files, metrics),
    poster,
    finisher: new RowFinisher({ inbox, metrics, epoch, clock, log }),
  })
  const inboxTtlMs = config.inbound.inboxTtl
  const delivery = new EventDelivery({
    attempts,
    destinations,
    directory,
    poster,
    parked,
    metrics,
    inboxTtlMs,
    clock,
    log,
  })
  const lateFiles = new LateFiles({ inbox, earlier, files, poster, destinations, metrics, epoch, clock, log })
  return { delivery, poster, parked, held, files, headers, lateFiles }
}

function createComposer(parts: InboundParts, map: MessageMapStore): EventComposer {
  const { config, network, downstream } = parts
  return new EventComposer({
    settings: { ...config.inbound, reactions: config.sync.reactions },
    texts: textsOf[config.inbound.locale],
    network,
    map,
    ownJid: (instance) => recordOf(parts, instance)?.jid ?? '',
    textLength: downstream.limits.textLength,
  })
}

function createFiles(parts: InboundParts): FileFetcher {
  const { config, clock, network } = parts
  const maxBytes = config.inbound.mediaMaxBytes
  return new FileFetcher({ network, sessionOf: (instance) => sessionOf(parts, instance), clock, maxBytes })
}

function createContent({ config, log }: InboundParts, files: FileFetcher, metrics: InboundMetrics): EventContent {
  const { locale, mediaMaxBytes } = config.inbound
  return new EventContent({ files, texts: textsOf[locale], mediaMaxBytes, metrics, log })
}

function createWorkers(parts: InboundParts, stores: Stores, lateFiles: LateFiles): Ticker[] {
  const { clock, log } = parts
  return [
    new Ticker({ name: 'late-files', everyMs: lateFilesMs, work: () => lateFiles.run(), clock, log }),
    new Ticker({ name: 'message-map-prune', everyMs: pruneMs, work: () => prune(parts, stores), clock, log }),
  ]
}

function watchInbox(metrics: Metrics, worker: InboxWorker, held: HeldDestinations): void {
  metrics.watchInbox(() => {
    const { chats, longest } = worker.queues()
    return { ...worker.counts(), lanes: chats, longestLane: longest, held: held.list().length }
  })
}

async function prune(parts: InboundParts, { inbox, map }: Stores): Promise<void> {
  const { config, clock, epoch } = parts
  const before = clock.now() - config.inbound.messageMapTtl
  while ((await map.prune(epoch(), before, pruneBatch)) === pruneBatch);
  for (const instance of await map.orphans()) await dropMap(parts, map, instance)
  await inbox.dropOrphans(epoch())
}

/** In small batches, so that storage can do other work between them. */
async function dropMap({ epoch }: InboundParts, map: MessageMapStore, instance: InstanceName): Promise<void> {
  while ((await map.dropInstance(epoch(), instance, pruneBatch)) === pruneBatch);
}

function lateCommitMsOf({ lateCommitMs, downstream }: InboundParts): number {
  return lateCommitMs ?? downstream.limits.lateCommitMs
}

async function destinationOf(parts: InboundParts, instance: InstanceName): Promise<Destination | null> {
  const record = recordOf(parts, instance)
  return record ? parts.routing.destinationOf(record) : null
}

function sessionOf({ instances }: InboundParts, instance: InstanceName) {
  return instances.find(instance)?.openSession
}

function recordOf({ instances }: InboundParts, instance: InstanceName) {
  return instances.find(instance)?.record
}

function ownPerson(parts: InboundParts, instance: InstanceName): Person {
  const own = parseChat(recordOf(parts, instance)?.jid ?? '')
  return own?.kind === 'person' ? own : { phone: null, lid: null }
}

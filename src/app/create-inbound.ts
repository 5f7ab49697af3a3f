// Puts together what takes received messages to the helpdesk.

import { parseChat } from '../core/address.ts'
import type { Person } from '../core/address.ts'
import type { Destination, Downstream } from '../core/downstream.ts'
import type { Network } from '../core/network.ts'
import type { PerInstance } from '../core/per-instance.ts'
import { ContactMerger } from '../bridge/conversations/contact-merger.ts'
import { ConversationOpener } from '../bridge/conversations/conversation-opener.ts'
import { HeldDestinations } from '../bridge/inbound/held-destinations.ts'
import { GroupDirectory } from '../bridge/people/group-directory.ts'
import { GroupHeaders } from '../bridge/inbound/compose/group-headers.ts'
import { createIgnoreRule } from '../bridge/inbound/ignored-chats.ts'
import { DeliveryAttempt } from '../bridge/inbound/delivery-attempt.ts'
import { EventComposer } from '../bridge/inbound/compose/event-composer.ts'
import { EventDelivery } from '../bridge/inbound/event-delivery.ts'
import { EventContexts } from '../bridge/conversations/event-context.ts'
import { ConversationDirectory } from '../bridge/conversations/conversation-directory.ts'
import { ExactlyOncePoster } from '../bridge/inbound/exactly-once-poster.ts'
import { InboundMetrics } from '../bridge/inbound/inbound-metrics.ts'
import { InboxWorker } from '../bridge/inbound/inbox-worker.ts'
import { FileFetcher } from '../bridge/inbound/files/file-fetcher.ts'
import { LateFiles } from '../bridge/inbound/late-files.ts'
import { People } from '../bridge/people/people.ts'
import { textsOf } from '../bridge/inbound/compose/texts.ts'
import type { Config } from '../config/config.ts'
import type { InstanceRegistry } from '../instances/instance-registry.ts'
import type { Metrics } from '../ledger/metrics.ts'
import type { Usage } from '../ledger/usage.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { createRowIds } from '../lib/row-ids.ts'
import { Ticker } from '../lib/ticker.ts'
import { ContactStore } from '../storage/stores/people/contact-store.ts'
import type { Database } from '../storage/database.ts'
import { InboxStore } from '../storage/stores/messages/inbox-store.ts'
import { MessageMapStore } from '../storage/stores/messages/message-map-store.ts'
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
  routing: { destinationOf(record: { ownerTag: string; inboxId: number }): Promise<Destination | null> }
  metrics: Metrics
  usage: Usage
  /** Only for tests: how long an uncertain post or conversation is looked for. */
  lateCommitMs?: number | undefined
}

export type InboundSet = {
  people: People
  inbound: InboxWorker
  /** Every part that keeps memory per instance. */
  perInstance: PerInstance[]
  /** How many received events of an instance did not reach the helpdesk. */
  undelivered: (instance: string) => Promise<number>
  /** Removes the record of the messages of a deleted instance. */
  forget: (instance: string) => Promise<void>
  workers: Ticker[]
  lateFiles: LateFiles
}

const lateFilesMs = 60_000
const pruneMs = 3_600_000
const pruneAtOnce = 1000

export function createInbound(parts: InboundParts): InboundSet {
  const { config, clock, log, database, epoch, metrics } = parts
  const newId = createRowIds(clock)
  const stores = {
    inbox: new InboxStore(database),
    map: new MessageMapStore(database),
    contacts: new ContactStore(database),
  }
  const who = peopleOf(parts, newId, (...joined) => {
    inbound.joined(...joined)
  })
  const report = new InboundMetrics({
    metrics,
    usage: parts.usage,
    ownerTagOf: (name) => recordOf(parts, name)?.ownerTag ?? '',
  })
  const common = { epoch, clock, log }
  const merger = new ContactMerger({ store: stores.contacts, ...common })
  const mode = config.downstream.conversationMode
  const opener = new ConversationOpener({ store: stores.contacts, mode, ...common, ...waitsOf(parts) })
  const directory = new ConversationDirectory({ store: stores.contacts, merger, opener, mode, ...common })
  const held = new HeldDestinations(common)
  const delivery = deliveryOf(parts, { ...stores, ...who, directory, held, report, newId })
  const inbound: InboxWorker = new InboxWorker({
    inbox: stores.inbox,
    ...who,
    directory,
    delivery: delivery.delivery,
    held,
    report,
    ...common,
  })
  metrics.watchInbox(() => {
    const { count: lanes, longest: longestLane } = inbound.lanes
    return { ...inbound.counts(), lanes, longestLane, held: inbound.held().length }
  })
  const prune = () => forgetOld(parts, stores)
  const workers = [
    new Ticker({ name: 'late-files', everyMs: lateFilesMs, work: () => delivery.lateFiles.run(), clock, log }),
    new Ticker({ name: 'message-map-prune', everyMs: pruneMs, work: prune, clock, log }),
  ]
  return {
    people: who.people,
    inbound,
    perInstance: [inbound, held, who.people, who.groups, directory, delivery.files],
    undelivered: async (name) => {
      const { pending, parked } = await stores.inbox.counts(name)
      return pending + parked
    },
    forget: (name) => dropMap(stores.map, epoch, name),
    workers,
    lateFiles: delivery.lateFiles,
  }
}

function peopleOf(
  parts: InboundParts,
  newId: () => string,
  onMerged: (instance: string, ids: { keep: string; drop: string }) => void,
) {
  const { config, clock, log, database, epoch } = parts
  const people = new People({ store: new PeopleStore(database), epoch, newId, clock, onMerged })
  const groups = new GroupDirectory({ sessionOf: (name) => parts.instances.find(name)?.openSession, clock, log })
  const groupWord = textsOf[config.inbound.locale].group
  const contexts = new EventContexts({ people, groups, groupWord, ownPerson: (name) => ownPerson(parts, name) })
  return { people, groups, contexts }
}

type Built = {
  inbox: InboxStore
  map: MessageMapStore
  contexts: EventContexts
  directory: ConversationDirectory
  held: HeldDestinations
  report: InboundMetrics
  newId: () => string
}

function deliveryOf(parts: InboundParts, built: Built) {
  const { config, clock, log, epoch, network, downstream } = parts
  const { inbox, map, contexts, directory, held, report, newId } = built
  const texts = textsOf[config.inbound.locale]
  const settings = { ...config.inbound, reactions: config.sync.reactions }
  const maxBytes = config.inbound.mediaMaxBytes
  const sessionOf = (name: string) => parts.instances.find(name)?.openSession
  const files = new FileFetcher({ network, sessionOf, clock, maxBytes })
  const onPosted = (ms: number) => {
    report.posted(ms)
  }
  const poster = new ExactlyOncePoster({ map, epoch, newId, clock, log, onPosted, ...waitsOf(parts) })
  const route = async (name: string) => {
    const record = recordOf(parts, name)
    return record ? parts.routing.destinationOf(record) : null
  }
  const shared = { inbox, map, files, poster, downstream, route, report, epoch, clock, log }
  const common = { ...shared, people: contexts, directory }
  const ownJid = (name: string) => recordOf(parts, name)?.jid ?? ''
  const attempts = new DeliveryAttempt({
    ...common,
    composer: new EventComposer({ settings, texts, network, map, ownJid }),
    headers: new GroupHeaders({ ttlMs: config.inbound.groupHeaderTtl, clock }),
    isIgnored: createIgnoreRule(config.inbound.ignoreJids),
    texts,
    mediaMaxBytes: maxBytes,
  })
  const delivery = new EventDelivery({ ...common, attempts, held, inboxTtlMs: config.inbound.inboxTtl })
  return { delivery, files, lateFiles: new LateFiles(shared) }
}

function waitsOf({ lateCommitMs }: InboundParts): { lateCommitMs?: number } {
  return lateCommitMs === undefined ? {} : { lateCommitMs }
}

type MessageStores = { inbox: InboxStore; map: MessageMapStore }

async function forgetOld({ config, clock, epoch }: InboundParts, { inbox, map }: MessageStores): Promise<void> {
  const before = clock.now() - config.inbound.messageMapTtl
  while ((await map.prune(epoch(), before, pruneAtOnce)) === pruneAtOnce);
  for (const name of await map.orphans()) await dropMap(map, epoch, name)
  await inbox.dropOrphans(epoch())
}

/** In small bites: storage has other things to do. */
async function dropMap(map: MessageMapStore, epoch: () => number, name: string): Promise<void> {
  while ((await map.dropInstance(epoch(), name, pruneAtOnce)) === pruneAtOnce);
}

function recordOf({ instances }: InboundParts, name: string) {
  return instances.find(name)?.record
}

function ownPerson(parts: InboundParts, name: string): Person {
  const own = parseChat(recordOf(parts, name)?.jid ?? '')
  return own?.kind === 'person' ? own : { phone: null, lid: null }
}

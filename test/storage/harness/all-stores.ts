// All stores over one database, with a lease that allows their writes.

import { Database } from '../../../src/storage/database.ts'
import type { EngineName } from '../../../src/storage/database.ts'
import { ClientVersionStore } from '../../../src/storage/stores/accounts/client-version-store.ts'
import { DestinationStore } from '../../../src/storage/stores/accounts/destination-store.ts'
import { InstanceStore } from '../../../src/storage/stores/accounts/instance-store.ts'
import { PendingLogoutStore } from '../../../src/storage/stores/accounts/pending-logout-store.ts'
import { RestrictionStore } from '../../../src/storage/stores/accounts/restriction-store.ts'
import { SessionKeyStore } from '../../../src/storage/stores/accounts/session-key-store.ts'
import { TenantStore } from '../../../src/storage/stores/accounts/tenant-store.ts'
import { WebhookSecretStore } from '../../../src/storage/stores/accounts/webhook-secret-store.ts'
import { BridgedStore } from '../../../src/storage/stores/history/bridged-store.ts'
import { HistoryRemoval } from '../../../src/storage/stores/history/history-removal.ts'
import { HistoryStore } from '../../../src/storage/stores/history/history-store.ts'
import { ImportMarks } from '../../../src/storage/stores/history/import-marks.ts'
import { ImportStore } from '../../../src/storage/stores/history/import-store.ts'
import { JobStore } from '../../../src/storage/stores/jobs/job-store.ts'
import { LastMessageStore } from '../../../src/storage/stores/live/last-message-store.ts'
import { StateChangeStore } from '../../../src/storage/stores/live/state-change-store.ts'
import { WaitingStore } from '../../../src/storage/stores/live/waiting-store.ts'
import { MessageDateStore } from '../../../src/storage/stores/history/message-date-store.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { RestoredStore } from '../../../src/storage/stores/restored-store.ts'
import { AuditStore } from '../../../src/storage/stores/ledger/audit-store.ts'
import { DeliveryStore } from '../../../src/storage/stores/ledger/delivery-store.ts'
import { QueueAgeStore } from '../../../src/storage/stores/ledger/queue-age-store.ts'
import { UsageStore } from '../../../src/storage/stores/ledger/usage-store.ts'
import { AdoptedMessageStore } from '../../../src/storage/stores/messages/adopted-message-store.ts'
import { FirstCallbackStore } from '../../../src/storage/stores/messages/first-callback-store.ts'
import { HeaderStore } from '../../../src/storage/stores/messages/header-store.ts'
import { InboxStore } from '../../../src/storage/stores/messages/inbox-store.ts'
import { JournalStore } from '../../../src/storage/stores/messages/journal-store.ts'
import { MessageMapStore } from '../../../src/storage/stores/messages/message-map-store.ts'
import { OfferStore } from '../../../src/storage/stores/messages/offer-store.ts'
import { OutboxStore } from '../../../src/storage/stores/messages/outbox-store.ts'
import { OutboxTransitions } from '../../../src/storage/stores/messages/outbox-transitions.ts'
import { RecentSendStore } from '../../../src/storage/stores/messages/recent-send-store.ts'
import { RejectedCallStore } from '../../../src/storage/stores/messages/rejected-call-store.ts'
import { RequestKeyStore } from '../../../src/storage/stores/messages/request-key-store.ts'
import { RetryStore } from '../../../src/storage/stores/messages/retry-store.ts'
import { SendContextStore } from '../../../src/storage/stores/messages/send-context-store.ts'
import { SentMessageStore } from '../../../src/storage/stores/messages/sent-message-store.ts'
import { ShownStore } from '../../../src/storage/stores/messages/shown-store.ts'
import { TickStore } from '../../../src/storage/stores/messages/tick-store.ts'
import { AssignmentStore } from '../../../src/storage/stores/nodes/assignment-store.ts'
import { NodeStore } from '../../../src/storage/stores/nodes/node-store.ts'
import { ClusterStore } from '../../../src/storage/stores/nodes/cluster-store.ts'
import { ContactPictureStore } from '../../../src/storage/stores/people/contact-picture-store.ts'
import { ContactStore } from '../../../src/storage/stores/people/contact-store.ts'
import { LabelAgreementStore } from '../../../src/storage/stores/people/label-agreement-store.ts'
import { LabelStore } from '../../../src/storage/stores/people/label-store.ts'
import { OpeningStore } from '../../../src/storage/stores/people/opening-store.ts'
import { PeopleStore } from '../../../src/storage/stores/people/people-store.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { holds } from '../../harness/holds.ts'

export type Stores = ReturnType<typeof createStores> & { database: Database }

function createStores(database: Database) {
  return {
    versions: new ClientVersionStore(database, holds.nodeHold),
    destinations: new DestinationStore(database, holds.nodeHold),
    instances: new InstanceStore(database),
    logouts: new PendingLogoutStore(database),
    restrictions: new RestrictionStore(database, holds.holdOf),
    keys: new SessionKeyStore(database),
    tenants: new TenantStore(database),
    webhookSecrets: new WebhookSecretStore(database, holds.nodeHold),
    dates: new MessageDateStore(database, holds.nodeHold),
    leases: new LeaseStore(database),
    // On PostgreSQL a process prepares the database before it becomes a node.
    restored: new RestoredStore(database, database.engine === 'sqlite' ? holds.nodeHold : undefined),
    audit: new AuditStore(database),
    deliveries: new DeliveryStore(database),
    usage: new UsageStore(database),
    queueAges: new QueueAgeStore(database),
    recentSends: new RecentSendStore(database),
    firstCallbacks: new FirstCallbackStore(database, holds.nodeHold),
    history: new HistoryStore(database),
    imports: new ImportStore(database, holds.holdOf),
    bridged: new BridgedStore(database),
    historyRemoval: new HistoryRemoval(database),
    inbox: new InboxStore(database),
    journal: new JournalStore(database),
    map: new MessageMapStore(database),
    adopted: new AdoptedMessageStore(database),
    offers: new OfferStore(database),
    headers: new HeaderStore(database),
    outbox: new OutboxStore(database, holds.holdOf, holds.nodeHold),
    transitions: new OutboxTransitions(database, holds.holdOf),
    rejectedCalls: new RejectedCallStore(database, holds.holdOf, holds.nodeHold),
    requests: new RequestKeyStore(database, holds.nodeHold),
    retries: new RetryStore(database, holds.holdOf),
    contexts: new SendContextStore(database, new ManualClock()),
    sent: new SentMessageStore(database, holds.holdOf),
    shown: new ShownStore(database, holds.holdOf),
    ticks: new TickStore(database, holds.holdOf),
    contacts: new ContactStore(database),
    openings: new OpeningStore(database),
    pictures: new ContactPictureStore(database),
    people: new PeopleStore(database),
    labels: new LabelStore(database, holds.holdOf),
    agreements: new LabelAgreementStore(database, holds.holdOf),
    jobs: new JobStore(database, holds.holdOf, holds.nodeHold),
    marks: new ImportMarks(database),
    states: new StateChangeStore(database, holds.nodeHold),
    lastMessages: new LastMessageStore(database, holds.nodeHold),
    nodes: new NodeStore(database),
    assignments: new AssignmentStore(database),
    cluster: new ClusterStore(database),
    waiting: new WaitingStore(database),
  }
}

/** The methods of all stores, as `InboxStore.park`. */
export function methodsOf(stores: Stores): string[] {
  return Object.values(stores).flatMap((store) => {
    if (store instanceof Database) return []
    const { name, prototype } = store.constructor as { name: string; prototype: object }
    return Object.getOwnPropertyNames(prototype).flatMap((method) =>
      method === 'constructor' ? [] : `${name}.${method}`,
    )
  })
}

export function storesOn(database: Database): Stores {
  return { ...createStores(database), database }
}

/** The epoch of all writes is 1. */
export async function openStores(database: Database): Promise<Stores> {
  const stores = storesOn(database)
  await stores.leases.acquire('test', 3_600_000)
  return stores
}

/**
 * read      changes nothing
 * repeated  is made again after a lost answer: the second time must succeed and change nothing
 * counted   each time counts, and its caller does not repeat it
 */
export type StoreCall = {
  kind: 'read' | 'repeated' | 'counted'
  /** The only engine that has the tables of the store; both when it is not named. */
  engine?: EngineName
  /** What must be stored before. The id is unique to the call. */
  given?: (stores: Stores, id: string) => Promise<unknown>
  run: (stores: Stores, id: string) => Promise<unknown>
}

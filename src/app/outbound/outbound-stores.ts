// The stores of outgoing messages.

import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../../storage/database.ts'
import { RestrictionStore } from '../../storage/stores/accounts/restriction-store.ts'
import { FirstCallbackStore } from '../../storage/stores/messages/first-callback-store.ts'
import { JournalStore } from '../../storage/stores/messages/journal-store.ts'
import { MessageMapStore } from '../../storage/stores/messages/message-map-store.ts'
import { OutboxStore } from '../../storage/stores/messages/outbox-store.ts'
import { OutboxTransitions } from '../../storage/stores/messages/outbox-transitions.ts'
import { RecentSendStore } from '../../storage/stores/messages/recent-send-store.ts'
import { RequestKeyStore } from '../../storage/stores/messages/request-key-store.ts'
import { RetryStore } from '../../storage/stores/messages/retry-store.ts'
import { SendContextStore } from '../../storage/stores/messages/send-context-store.ts'
import { SentMessageStore } from '../../storage/stores/messages/sent-message-store.ts'
import { ShownStore } from '../../storage/stores/messages/shown-store.ts'

export type OutboundStores = ReturnType<typeof createOutboundStores>

export function createOutboundStores(database: Database, epoch: () => number, clock: Clock) {
  return {
    outbox: new OutboxStore(database, epoch),
    requests: new RequestKeyStore(database, epoch),
    journal: new JournalStore(database),
    transitions: new OutboxTransitions(database, epoch),
    retries: new RetryStore(database, epoch),
    shown: new ShownStore(database, epoch),
    firstCallbacks: new FirstCallbackStore(database, epoch),
    sent: new SentMessageStore(database, epoch),
    recentSends: new RecentSendStore(database),
    contexts: new SendContextStore(database, clock),
    map: new MessageMapStore(database),
    restrictions: new RestrictionStore(database, epoch),
  }
}

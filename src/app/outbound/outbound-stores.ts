// The stores of outgoing messages.

import type { Clock } from '../../lib/clock.ts'
import { holdOfDeletedToo } from '../../core/nodes/duties.ts'
import type { Duties } from '../../core/nodes/duties.ts'
import type { Holds } from '../../core/nodes/hold.ts'
import type { Database } from '../../storage/database.ts'
import { RestrictionStore } from '../../storage/stores/accounts/restriction-store.ts'
import { FirstCallbackStore } from '../../storage/stores/messages/first-callback-store.ts'
import { JournalStore } from '../../storage/stores/messages/journal-store.ts'
import { MessageMapStore } from '../../storage/stores/messages/message-map-store.ts'
import { compileNoneLive } from '../../storage/stores/messages/outbox-guards.ts'
import { OutboxStore } from '../../storage/stores/messages/outbox-store.ts'
import { OutboxTransitions } from '../../storage/stores/messages/outbox-transitions.ts'
import { RecentSendStore } from '../../storage/stores/messages/recent-send-store.ts'
import { RequestKeyStore } from '../../storage/stores/messages/request-key-store.ts'
import { RetryStore } from '../../storage/stores/messages/retry-store.ts'
import { SendContextStore } from '../../storage/stores/messages/send-context-store.ts'
import { SentMessageStore } from '../../storage/stores/messages/sent-message-store.ts'
import { ShownStore } from '../../storage/stores/messages/shown-store.ts'

export type OutboundStores = ReturnType<typeof createOutboundStores>

export function createOutboundStores(database: Database, holds: Holds, duties: Duties, clock: Clock) {
  const holdOf = holdOfDeletedToo(holds, duties)
  return {
    outbox: new OutboxStore(database, holds.holdOf, holds.nodeHold),
    noneLive: compileNoneLive(database),
    requests: new RequestKeyStore(database, holds.nodeHold),
    journal: new JournalStore(database),
    transitions: new OutboxTransitions(database, holdOf),
    retries: new RetryStore(database, holdOf),
    shown: new ShownStore(database, holdOf),
    firstCallbacks: new FirstCallbackStore(database, holds.nodeHold),
    sent: new SentMessageStore(database, holds.holdOf),
    recentSends: new RecentSendStore(database),
    contexts: new SendContextStore(database, clock),
    map: new MessageMapStore(database),
    restrictions: new RestrictionStore(database, holds.holdOf),
  }
}

// Creates the parts that show the typing of customers.

import { createIgnoredChats } from '../../bridge/inbound/ignored-chats.ts'
import type { ActivityListener } from '../../bridge/outbound/agent-activity.ts'
import { ContactTyping } from '../../bridge/sync/contact-typing.ts'
import { RealtimeCounts } from '../../bridge/sync/realtime-counts.ts'
import { TypingRequests } from '../../bridge/sync/typing-requests.ts'
import { TypingSubscriptions } from '../../bridge/sync/typing-subscriptions.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { ReceivedRow } from '../../core/network/reception.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import type { TypingNotice } from '../../core/realtime.ts'
import type { SyncParts } from './sync-parts.ts'

export type TypingSet = {
  noticed: (instance: InstanceName, notice: TypingNotice) => void
  /** Messages have come. */
  received: (instance: InstanceName, rows: readonly ReceivedRow[]) => void
  activity: ActivityListener
  /** The state of the instance changed. */
  connectionChanged: (instance: InstanceName) => void
  perInstance: readonly PerInstance[]
}

const nothing = () => undefined

export function createTyping(parts: SyncParts): TypingSet {
  if (!parts.config.sync.typing) return switchedOff
  const isIgnored = createIgnoredChats(parts.settingsOf)
  const { clock, log, stack, metrics, contexts, conversations, targetOf, sessionOf } = parts
  const counts = new RealtimeCounts({ metrics })
  const requests = new TypingRequests({ contexts, conversations, targetOf, log })
  const typing = stack.use(new ContactTyping({ requests, counts, clock }))
  const subscriptions = new TypingSubscriptions({ sessionOf, clock, log })
  return {
    noticed: (instance, notice) => {
      if (!isIgnored(instance, notice.chat)) typing.noticed(instance, notice)
    },
    received: (instance, rows) => {
      for (const { event } of rows) {
        if (event.kind !== 'message' || event.fromMe || isIgnored(instance, event.chat)) continue
        typing.wrote(instance, event.chat, event.sender)
        if (event.address) subscriptions.used(instance, event.address.chat, event.at)
      }
    },
    activity: subscriptions,
    connectionChanged: (instance) => {
      if (sessionOf(instance)) return
      typing.connectionEnded(instance)
      subscriptions.wentOffline(instance)
    },
    perInstance: [typing, subscriptions],
  }
}

const switchedOff: TypingSet = {
  noticed: nothing,
  received: nothing,
  activity: { usedForMs: 0, used: nothing, cameOnline: nothing, wentOffline: nothing },
  connectionChanged: nothing,
  perInstance: [],
}

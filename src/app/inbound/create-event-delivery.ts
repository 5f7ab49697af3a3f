// Creates the parts that deliver one inbox row to the helpdesk.

import type { AwaitedCallbacks } from '../../bridge/conversations/awaited-callbacks.ts'
import type { ConversationDirectory } from '../../bridge/conversations/conversation-directory.ts'
import type { MergeGate } from '../../bridge/conversations/merge-gate.ts'
import type { OfferedChoices } from '../../bridge/conversations/offered-choices.ts'
import type { EventContexts } from '../../bridge/conversations/event-context.ts'
import { EventComposer } from '../../bridge/inbound/compose/event-composer.ts'
import { GroupHeaders } from '../../bridge/inbound/compose/group-headers.ts'
import { DeliveryAttempt } from '../../bridge/inbound/delivery-attempt.ts'
import { DestinationRouter } from '../../bridge/inbound/destination-router.ts'
import { EarlierMessages } from '../../bridge/inbound/earlier-messages.ts'
import { EventContent } from '../../bridge/inbound/event-content.ts'
import { EventDelivery } from '../../bridge/inbound/event-delivery.ts'
import { ExactlyOncePoster } from '../../bridge/posting/exactly-once-poster.ts'
import { PostLimits } from '../../bridge/posting/post-limits.ts'
import { FileFetcher } from '../../bridge/inbound/files/file-fetcher.ts'
import { HeldDestinations } from '../../bridge/inbound/held-destinations.ts'
import { createIgnoredChats } from '../../bridge/inbound/ignored-chats.ts'
import type { InboundMetrics } from '../../bridge/inbound/inbound-metrics.ts'
import { LateFiles } from '../../bridge/inbound/late-files.ts'
import { ParkedRows } from '../../bridge/inbound/parked-rows.ts'
import { tracedAttempts } from '../../bridge/inbound/traced-attempts.ts'
import { RowFinisher } from '../../bridge/inbound/row-finisher.ts'
import type { HeaderHistory } from '../../bridge/sync/names/header-history.ts'
import type { MessageMapStore } from '../../storage/stores/messages/message-map-store.ts'
import { accessOf, lateCommitMsOf, recordOf, sessionOf } from './inbound-parts.ts'
import type { InboundParts, InboundStores } from './inbound-parts.ts'

type DeliveryParts = {
  stores: InboundStores
  conversations: { contexts: EventContexts; directory: ConversationDirectory; gate: MergeGate }
  choices: OfferedChoices
  awaited: Pick<AwaitedCallbacks, 'posted'>
  headerHistory: Pick<HeaderHistory, 'note'>
  metrics: InboundMetrics
  newId: () => string
}

export function createEventDelivery(parts: InboundParts, own: DeliveryParts) {
  const { stores, conversations, choices, awaited, headerHistory, metrics, newId } = own
  const { config, clock, log, holds, downstream, identities, traces } = parts
  const { inbox, map } = stores
  const { contexts, directory } = conversations
  const held = new HeldDestinations({ clock, log, onChanged: parts.onHeldChanged })
  const destinations = new DestinationRouter({
    accessOf: (instance) => accessOf(parts, instance),
    identities,
    held,
    downstream,
  })
  const poster = new ExactlyOncePoster({
    map,
    limits: new PostLimits(parts.duties),
    gate: conversations.gate,
    ...holds,
    newId,
    clock,
    log,
    onPosted: (ms) => {
      metrics.posted(ms)
    },
    onTaken: ({ identity, destination, helpdesk, conversation, message, header, isPast }, { messageId, ms }) => {
      const { retroactiveNames, retroactivePersist } = config.sync
      // Chatwoot does not call for activity messages. The dates of imported messages say nothing about callbacks.
      const isAwaited = message.type !== 'activity' && !isPast
      if (isAwaited) awaited.posted({ destination, helpdesk, conversationId: conversation.id }, ms)
      // In memory, imported messages would take the place of live ones.
      const isKept = retroactiveNames && (retroactivePersist || !isPast)
      if (header !== null && isKept) headerHistory.note({ ...identity, messageId, header })
    },
    storesHeaders: config.sync.retroactiveNames && config.sync.retroactivePersist,
    lateCommitMs: lateCommitMsOf(parts),
  })
  const earlier = new EarlierMessages({ map, poster })
  const parked = new ParkedRows({ inbox, metrics, ...holds, clock, log, onCounted: parts.onCounted })
  const files = createFiles(parts)
  const headers = new GroupHeaders({ ttlMs: config.inbound.groupHeaderTtl, clock })
  const composer = createComposer(parts, map, choices)
  const attempts = new DeliveryAttempt({
    isIgnored: createIgnoredChats(parts.settingsOf),
    contexts,
    earlier,
    composer,
    headers,
    directory,
    content: createContent(parts, files, metrics),
    poster,
    finisher: new RowFinisher({ inbox, metrics, ...holds, traces, clock, log, onShown: parts.onShown }),
  })
  const inboxTtlMs = config.inbound.inboxTtl
  const delivery = new EventDelivery({
    attempts: tracedAttempts(attempts, traces),
    destinations,
    directory,
    poster,
    parked,
    metrics,
    inboxTtlMs,
    clock,
    log,
  })
  const lateFiles = new LateFiles({ inbox, earlier, files, poster, destinations, metrics, ...holds, clock, log })
  return { delivery, destinations, composer, poster, parked, held, files, headers, lateFiles }
}

function createComposer(parts: InboundParts, map: MessageMapStore, choices: OfferedChoices): EventComposer {
  const { config, settingsOf, network, downstream } = parts
  return new EventComposer({
    settings: { ...config.inbound, reactions: config.sync.reactions },
    settingsOf,
    network,
    map,
    choices,
    ownJid: (instance) => recordOf(parts, instance)?.jid ?? '',
    callOutcomeOf: parts.callOutcomeOf,
    limits: downstream.limits,
  })
}

function createFiles(parts: InboundParts): FileFetcher {
  const { config, clock, network } = parts
  const maxBytes = config.inbound.mediaMaxBytes
  return new FileFetcher({ network, sessionOf: (instance) => sessionOf(parts, instance), clock, maxBytes })
}

function createContent({ config, log }: InboundParts, files: FileFetcher, metrics: InboundMetrics): EventContent {
  const { mediaMaxBytes } = config.inbound
  return new EventContent({ files, mediaMaxBytes, metrics, log })
}

// Counts the messages on their way to the helpdesk.

import type { InstanceName } from '../../core/ids.ts'
import type { NetworkEvent } from '../../core/message.ts'
import type { Metrics } from '../../ledger/metrics.ts'
import type { Usage } from '../../ledger/usage.ts'

type Deps = {
  metrics: Pick<
    Metrics,
    'messages' | 'dispatchErrors' | 'realtimeEvents' | 'downstreamSeconds' | 'passedOver' | 'received' | 'duplicates'
  >
  usage: Pick<Usage, 'count'>
  ownerTagOf: (instance: InstanceName) => string
}

export type RealtimeResult = 'ok' | 'no_contact' | 'no_conv' | 'filtered' | 'skip_disabled' | 'duplicate' | 'ds_error'

/** The results that the metric of reactions has. A reaction that ends otherwise is not counted there. */
const reactionResults: readonly RealtimeResult[] = ['ok', 'no_contact', 'no_conv', 'ds_error']

export class InboundMetrics {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** A new row is in the inbox. */
  received(instance: InstanceName, event: NetworkEvent): void {
    this.#deps.metrics.received.inc({ instance, kind: kindOf(event) })
  }

  /** An event came again that was delivered before. */
  duplicate(instance: InstanceName, kind: string): void {
    this.#deps.metrics.duplicates.inc({ instance, kind })
  }

  /** The helpdesk has accepted a message. */
  accepted(instance: InstanceName): void {
    const { metrics, usage, ownerTagOf } = this.#deps
    const owner_tag = ownerTagOf(instance)
    metrics.messages.inc({ direction: 'in', instance, owner_tag })
    usage.count(instance, owner_tag, 'messages_in')
  }

  /** An attempt failed. */
  failed(instance: InstanceName, kind: string): void {
    const { metrics, ownerTagOf } = this.#deps
    metrics.dispatchErrors.inc({ direction: 'in', instance, kind, owner_tag: ownerTagOf(instance) })
  }

  /** Counts how a reaction or a group change ended; once each. */
  countResult(instance: InstanceName, eventKind: string, result: RealtimeResult): void {
    const { realtimeEvents } = this.#deps.metrics
    if (eventKind === 'group') realtimeEvents.inc({ feature: 'group_event', result, instance })
    if (eventKind !== 'reaction' || !reactionResults.includes(result)) return
    realtimeEvents.inc({ feature: 'reaction', result, instance })
  }

  /** An event that belongs to no chat, or to a chat that is not bridged. */
  passedOver(instance: InstanceName, kind: string): void {
    this.#deps.metrics.passedOver.inc({ instance, kind })
  }

  /** A POST took so long. */
  posted(ms: number): void {
    this.#deps.metrics.downstreamSeconds.observe(ms / 1000)
  }
}

/** The kind under which the result of an event is counted: a sealed reaction is a reaction. */
export function resultKindOf(event: NetworkEvent): string {
  return event.kind === 'sealed' && event.purpose === 'reaction' ? 'reaction' : event.kind
}

function kindOf(event: NetworkEvent): string {
  if (event.kind === 'message') return event.content.type === 'media' ? event.content.media : event.content.type
  if (event.kind !== 'sealed') return event.kind
  return event.purpose === 'other' ? 'sealed' : event.purpose
}

// What is counted of messages on their way to the helpdesk.

import type { NetworkEvent } from '../../core/message.ts'
import type { Metrics } from '../../ledger/metrics.ts'
import type { Usage } from '../../ledger/usage.ts'

type Deps = {
  metrics: Pick<
    Metrics,
    'messages' | 'dispatchErrors' | 'realtimeEvents' | 'downstreamSeconds' | 'passedOver' | 'received' | 'duplicates'
  >
  usage: Pick<Usage, 'count'>
  ownerTagOf: (instance: string) => string
}

export type RealtimeResult = 'ok' | 'no_contact' | 'no_conv' | 'filtered' | 'skip_disabled' | 'duplicate' | 'ds_error'

/** What the interface lets a reaction end in; own ones, repeated ones and those nobody wants are not passed on at all. */
const reactionResults: readonly RealtimeResult[] = ['ok', 'no_contact', 'no_conv', 'ds_error']

export class InboundMetrics {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Something new is in the inbox. */
  received(instance: string, event: NetworkEvent): void {
    this.#deps.metrics.received.inc({ instance, kind: kindOf(event) })
  }

  /** Something came again that was passed on before. */
  duplicate(instance: string, kind: string): void {
    this.#deps.metrics.duplicates.inc({ instance, kind })
  }

  /** The helpdesk took a message. */
  accepted(instance: string): void {
    const { metrics, usage, ownerTagOf } = this.#deps
    const owner_tag = ownerTagOf(instance)
    metrics.messages.inc({ direction: 'in', instance, owner_tag })
    usage.count(instance, owner_tag, 'messages_in')
  }

  /** An attempt failed. */
  failed(instance: string, kind: string): void {
    const { metrics, ownerTagOf } = this.#deps
    metrics.dispatchErrors.inc({ direction: 'in', instance, kind, owner_tag: ownerTagOf(instance) })
  }

  /** The end of a reaction or a group change: told once each. */
  countResult(instance: string, eventKind: string, result: RealtimeResult): void {
    const { realtimeEvents } = this.#deps.metrics
    if (eventKind === 'group') realtimeEvents.inc({ feature: 'group_event', result, instance })
    if (eventKind !== 'reaction' || !reactionResults.includes(result)) return
    realtimeEvents.inc({ feature: 'reaction', result, instance })
  }

  /** Something that belongs to no chat, or to one that is not bridged. */
  passedOver(instance: string, kind: string): void {
    this.#deps.metrics.passedOver.inc({ instance, kind })
  }

  posted(ms: number): void {
    this.#deps.metrics.downstreamSeconds.observe(ms / 1000)
  }
}

function kindOf(event: NetworkEvent): string {
  if (event.kind === 'message') return event.content.type === 'media' ? event.content.media : event.content.type
  if (event.kind !== 'sealed') return event.kind
  return event.purpose === 'other' ? 'sealed' : event.purpose
}

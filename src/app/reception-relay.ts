// Passes on what the network receives. The network is created before the parts that listen to it.

import type { CallRejections } from '../bridge/calls/call-rejections.ts'
import type { HistoryReception } from '../core/history/past-events.ts'
import type { LabelReception } from '../core/sync/labels.ts'
import type { Reception } from '../core/network/reception.ts'
import type { RealtimeReception } from '../core/realtime.ts'

type Listeners = {
  /** Is told about received messages before `messages`: a notice about a call waits for its rejection. */
  calls: Pick<CallRejections, 'received'>
  messages: Reception
  realtime: RealtimeReception
  history: HistoryReception
  labels: LabelReception
  /** Is told about received messages after `messages`. */
  onReceived: Reception['onReceived']
}

export class ReceptionRelay implements Reception, RealtimeReception, HistoryReception, LabelReception {
  #listeners: Listeners | undefined

  connect(listeners: Listeners): void {
    this.#listeners = listeners
  }

  onReceived(...received: Parameters<Reception['onReceived']>): void {
    const { calls, messages, onReceived } = this.#connected()
    calls.received(...received)
    messages.onReceived(...received)
    onReceived(...received)
  }

  onNames(...names: Parameters<Reception['onNames']>): Promise<void> | undefined {
    return this.#connected().messages.onNames(...names)
  }

  onPairs(...pairs: Parameters<Reception['onPairs']>): void {
    this.#connected().messages.onPairs(...pairs)
  }

  onPassedOver(...passed: Parameters<Reception['onPassedOver']>): void {
    this.#connected().messages.onPassedOver(...passed)
  }

  onRepeated(...repeated: Parameters<Reception['onRepeated']>): void {
    this.#connected().messages.onRepeated(...repeated)
  }

  onReceipts(...receipts: Parameters<RealtimeReception['onReceipts']>): Promise<void> | undefined {
    return this.#connected().realtime.onReceipts(...receipts)
  }

  onTyping(...typing: Parameters<RealtimeReception['onTyping']>): void {
    this.#connected().realtime.onTyping(...typing)
  }

  onPictureChanged(...changed: Parameters<RealtimeReception['onPictureChanged']>): void {
    this.#connected().realtime.onPictureChanged(...changed)
  }

  keepsSince(...asked: Parameters<HistoryReception['keepsSince']>): number | null {
    return this.#connected().history.keepsSince(...asked)
  }

  onPastEvents(...past: Parameters<HistoryReception['onPastEvents']>): Promise<void> {
    return this.#connected().history.onPastEvents(...past)
  }

  onPastProgress(...progress: Parameters<HistoryReception['onPastProgress']>): void {
    this.#connected().history.onPastProgress(...progress)
  }

  keepsLabels(...asked: Parameters<LabelReception['keepsLabels']>): boolean {
    return this.#connected().labels.keepsLabels(...asked)
  }

  onNoLabels(...told: Parameters<LabelReception['onNoLabels']>): void {
    this.#connected().labels.onNoLabels(...told)
  }

  onLabels(...news: Parameters<LabelReception['onLabels']>): Promise<void> {
    return this.#connected().labels.onLabels(...news)
  }

  #connected(): Listeners {
    if (!this.#listeners) throw new Error('the network received something before the application was complete')
    return this.#listeners
  }
}

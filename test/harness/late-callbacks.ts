// Says which messages may reach a customer after later ones, because of when Chatwoot delivered their callbacks. The service
// waits a second at most, and the first callback of a burst leaves at once.

import type { Delivery } from '../../sim/helpdesk/webhooks/webhook-dispatcher.ts'

type Callback = { at: number; url: string; conversation: number; isTaken: boolean }

// The service waits for a second. Under load it reads a callback later than the helpdesk sends it. The workers of a busy
// helpdesk stall for less than this time.
const waitMs = 500
const burstMs = 2000

export class LateCallbacks {
  /** Messages that only the first callback of a burst overtook. */
  readonly first = new Set<string>()
  /** Messages whose callbacks came so long after a later one that the service had given up waiting. */
  readonly overdue = new Set<string>()
  /** Messages whose callbacks were delivered again after a delivery that failed. The service may have refused the first one. */
  readonly again = new Set<string>()
  readonly #callbacks = new Map<string, Callback>()
  readonly #deliveredAgain = new Set<string>()

  /** The first delivery that did not fail counts, or else the last one. */
  constructor(deliveries: readonly Delivery[]) {
    for (const { event, body, at, url, error } of deliveries.toSorted((one, two) => one.at - two.at)) {
      if (event !== 'message_created' || !('content' in body)) continue
      const { content, conversation } = body
      const text = String(content)
      const known = this.#callbacks.get(text)
      if (known?.isTaken) continue
      if (known) this.#deliveredAgain.add(text)
      this.#callbacks.set(text, { at, url, conversation: conversation.id, isTaken: error === null })
    }
  }

  excuses(late: string, overtakenBy: readonly string[]): boolean {
    const callback = this.#callbacks.get(late)
    const earlier = overtakenBy.flatMap((each) => this.#callbacks.get(each) ?? [])
    if (!callback || earlier.length < overtakenBy.length) return false
    const isOverdue = earlier.some(({ at }) => callback.at - at > waitMs)
    const isFirst = earlier.every((each) => each.at <= callback.at && this.#isFirst(each))
    const isAgain = this.#deliveredAgain.has(late)
    if (isOverdue) this.overdue.add(late)
    else if (isFirst) this.first.add(late)
    else if (isAgain) this.again.add(late)
    return isOverdue || isFirst || isAgain
  }

  /** Whether this process had not heard of the conversation for a while. */
  #isFirst({ at, url, conversation }: Callback): boolean {
    const others = [...this.#callbacks.values()].filter(
      (each) => each.url === url && each.conversation === conversation && each.at < at && at - each.at <= burstMs,
    )
    return others.length === 0
  }
}

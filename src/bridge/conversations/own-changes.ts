// Knows of which changes at the helpdesk the service has got the callbacks.
//
// Chatwoot sends a callback for each change of a message. If the callback fails, Chatwoot shows the message as failed. So the
// service looks at a message that it has changed, unless the callback has come and its answer has left. All of this is kept in
// memory: after a restart the service looks.

import type { DestinationKey } from '../../core/ids.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'

/** `open`: how many callbacks have not come. `lookAt`: the time of the look that the newest change has planned. */
type Change = { open: number; lookAt: number | null }

/** The look comes 10 s after the change. */
const keptMs = 60_000
const maxMessages = 10_000

export class OwnChanges {
  readonly #changes: BoundedMap<Change>

  constructor({ clock }: { clock: Clock }) {
    this.#changes = new BoundedMap({ clock, max: maxMessages, ttlMs: keptMs })
  }

  /** The helpdesk will be asked to change the message. The callback can come before the answer to the request. */
  begun(destination: DestinationKey, messageId: number): void {
    const open = (this.#of(destination, messageId)?.open ?? 0) + 1
    this.#changes.set(nameOf(destination, messageId), { open, lookAt: null })
  }

  /** The message was changed, and a look at it is stored for this time. */
  planned(destination: DestinationKey, messageId: number, lookAt: number): void {
    const change = this.#of(destination, messageId)
    if (change) change.lookAt = lookAt
  }

  /** A callback said that the message changed, and the answer has left the process. */
  answered(destination: DestinationKey, messageId: number): void {
    const change = this.#of(destination, messageId)
    if (change && change.open > 0) change.open -= 1
  }

  /** Whether the look at this time is planned for our changes alone, and the callbacks of all of them were answered. */
  areAnswered(destination: DestinationKey, messageId: number, lookAt: number): boolean {
    const change = this.#of(destination, messageId)
    return change?.open === 0 && change.lookAt === lookAt
  }

  #of(destination: DestinationKey, messageId: number): Change | undefined {
    return this.#changes.get(nameOf(destination, messageId))
  }
}

function nameOf(destination: DestinationKey, messageId: number): string {
  return `${destination}|${messageId}`
}

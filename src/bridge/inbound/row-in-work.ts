// The inbox row of a delivery under way, and the place of the delivery among those of its instance. A delivery that waits gives
// up both: thousands of chats may wait at once, and chats that can be delivered need the places.

import type { InstanceName } from '../../core/ids.ts'
import type { Semaphore } from '../../lib/queues/semaphore.ts'
import type { InboxRow } from '../../storage/stores/messages/inbox-store.ts'
import type { EventChat } from '../conversations/event-context.ts'

type Given = {
  instance: InstanceName
  /** Null when the row has to be read. */
  row: InboxRow | null
  chat: EventChat | null
  load: () => Promise<InboxRow | undefined>
  places: Semaphore
}

export class RowInWork {
  readonly instance: InstanceName
  readonly chat: EventChat | null
  readonly #load: Given['load']
  readonly #places: Semaphore
  readonly #signal: AbortSignal
  #row: InboxRow | null
  #leave: (() => void) | undefined

  constructor({ instance, row, chat, load, places }: Given, signal: AbortSignal) {
    this.instance = instance
    this.chat = chat
    this.#row = row
    this.#load = load
    this.#places = places
    this.#signal = signal
  }

  /** Waits for a place. Rejects when the signal aborts. */
  async enter(): Promise<void> {
    this.#leave ??= await this.#places.enter(this.#signal)
  }

  leave(): void {
    this.#leave?.()
    this.#leave = undefined
  }

  /** Reads the row if it is not in memory. Undefined when the row is gone, or the signal aborts. */
  async read(): Promise<InboxRow | undefined> {
    this.#row ??= (await this.#load()) ?? null
    return this.#row ?? undefined
  }

  /** Waits without the row and without the place. Rejects when the signal aborts. */
  async rest<T>(wait: () => Promise<T>): Promise<T> {
    this.#row = null
    this.leave()
    const result = await wait()
    await this.enter()
    return result
  }
}

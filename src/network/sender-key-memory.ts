// Who was given our key of a group: remembered once the server has acknowledged the message that carried the key.
//
// The library writes it down before the frame leaves. A frame that is lost would leave members without the key until they
// ask for it; so what a message under way would add is held back, and a message that was not acknowledged adds nothing.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { KeyDoor } from './key-door.ts'

type Recipients = Record<string, unknown>

export const senderKeyMemoryKind = 'sender-key-memory'

/** By group, what the message sent in this asynchronous context would add. */
const underWay = new AsyncLocalStorage<Recipients>()

export class SenderKeyMemory {
  readonly #door: KeyDoor

  constructor(door: KeyDoor) {
    this.#door = door
  }

  get(groups: readonly string[]): Promise<Recipients> {
    return this.#door.get(senderKeyMemoryKind, groups)
  }

  /** Null forgets at once: somebody asked for the key again. */
  async set(recipients: Recipients): Promise<void> {
    const held = underWay.getStore()
    const forgotten: Recipients = {}
    for (const [group, known] of Object.entries(recipients)) {
      if (known === null) forgotten[group] = null
      else if (held) held[group] = known
    }
    if (Object.keys(forgotten).length > 0) await this.#door.set({ [senderKeyMemoryKind]: forgotten })
  }

  /** Sends a message; `send` resolves with the acknowledgement. */
  async during<Result>(send: () => Promise<Result>): Promise<Result> {
    const held: Recipients = {}
    const result = await underWay.run(held, send)
    if (Object.keys(held).length > 0) {
      // Not remembered means only that the next message carries the key again.
      this.#door.set({ [senderKeyMemoryKind]: held }).catch(() => undefined)
    }
    return result
  }
}

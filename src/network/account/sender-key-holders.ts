// Who was given our key of a group: remembered once the server has acknowledged the message that carried the key.
//
// A frame that is lost would leave members without the key until they ask for it. So a message under way adds nothing, and
// what the library writes down before a frame of its own leaves is not believed.

import type { ConnectionKeys } from './connection-keys.ts'

type Holders = Record<string, boolean>

export const senderKeyHoldersKind = 'sender-key-memory'

export class SenderKeyHolders {
  readonly #connectionKeys: ConnectionKeys
  /** Somebody asked for the key of this group again. */
  onForgotten: (group: string) => void = () => undefined

  constructor(connectionKeys: ConnectionKeys) {
    this.#connectionKeys = connectionKeys
  }

  /** For the library. */
  get(groups: readonly string[]): Promise<Record<string, unknown>> {
    return this.#connectionKeys.get(senderKeyHoldersKind, groups)
  }

  /** For the library; null forgets: somebody asked for the key again. */
  async set(recipients: Record<string, unknown>): Promise<void> {
    const forgotten = Object.keys(recipients).filter((group) => recipients[group] === null)
    if (forgotten.length === 0) return
    await this.#connectionKeys.set({
      [senderKeyHoldersKind]: Object.fromEntries(forgotten.map((group) => [group, null])),
    })
    for (const group of forgotten) this.onForgotten(group)
  }

  async holders(group: string): Promise<Holders> {
    return ((await this.get([group]))[group] ?? {}) as Holders
  }

  /** To be called when the message that carried the key is acknowledged. Who asked again meanwhile stays forgotten. */
  async add(group: string, devices: readonly string[]): Promise<void> {
    const holders = await this.holders(group)
    for (const jid of devices) holders[jid] = true
    await this.#connectionKeys.set({ [senderKeyHoldersKind]: { [group]: holders } })
  }
}

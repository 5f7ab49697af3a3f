// Remembers which devices have our key of a group.
//
// A device counts only after the server has acknowledged the message that carried the key. If that frame is lost, the next
// message carries the key again. The library notes the devices before the frame leaves, so its notes are ignored.

import type { Jid } from '../../core/ids.ts'
import type { ConnectionKeys } from './connection-keys.ts'

type Holders = Record<Jid, boolean>

export const senderKeyHoldersKind = 'sender-key-memory'

export class SenderKeyHolders {
  readonly #connectionKeys: ConnectionKeys
  /** Called when a member of this group asks for the key again. */
  onForgotten: (group: Jid) => void = () => undefined

  constructor(connectionKeys: ConnectionKeys) {
    this.#connectionKeys = connectionKeys
  }

  /** For the library. */
  async get(groups: readonly Jid[]): Promise<Record<string, unknown>> {
    return this.#connectionKeys.account.get(senderKeyHoldersKind, groups)
  }

  /** For the library. Null means that a member asked for the key again: the group's holders are forgotten. */
  async set(changes: Record<Jid, unknown>): Promise<void> {
    const forgotten = Object.keys(changes).filter((group) => changes[group] === null)
    if (forgotten.length === 0) return
    await this.#connectionKeys.set({
      [senderKeyHoldersKind]: Object.fromEntries(forgotten.map((group) => [group, null])),
    })
    for (const group of forgotten) this.onForgotten(group)
  }

  async of(group: Jid): Promise<Holders> {
    return ((await this.get([group]))[group] ?? {}) as Holders
  }

  /** To be called when the message that carried the key is acknowledged. */
  async add(group: Jid, devices: readonly Jid[]): Promise<void> {
    const holders = await this.of(group)
    for (const jid of devices) holders[jid] = true
    await this.#connectionKeys.set({ [senderKeyHoldersKind]: { [group]: holders } })
  }
}

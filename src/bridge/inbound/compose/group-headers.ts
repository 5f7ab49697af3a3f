// Says whether a group message needs a header with its sender: always, or only when the sender changes or time has passed.

import type { DestinationKey, InstanceName } from '../../../core/ids.ts'
import type { PerInstance } from '../../../core/per-instance.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { ChatContact } from '../../conversations/conversation-directory.ts'

type Chat = Pick<ChatContact, 'instance' | 'chatId'>

const maxChats = 10_000

export class GroupHeaders implements PerInstance {
  readonly #ttlMs: number
  readonly #lastSender: BoundedMap<string>

  constructor({ ttlMs, clock }: { ttlMs: number; clock: Clock }) {
    this.#ttlMs = ttlMs
    this.#lastSender = new BoundedMap({ clock, max: maxChats, ttlMs })
  }

  isNeeded(chat: Chat, destination: DestinationKey, senderId: string): boolean {
    return this.#ttlMs === 0 || this.#lastSender.get(keyOf(chat, destination)) !== senderId
  }

  /** A message of this sender is now the last one in the conversation. */
  note(chat: Chat, destination: DestinationKey, senderId: string): void {
    const key = keyOf(chat, destination)
    // The time counts from the header, not from the messages after it.
    if (this.#ttlMs > 0 && this.#lastSender.get(key) !== senderId) this.#lastSender.set(key, senderId)
  }

  leave(instance: InstanceName): void {
    this.#lastSender.deleteWhere((key) => key.startsWith(`${instance}|`))
  }
}

function keyOf({ instance, chatId }: Chat, destination: DestinationKey): string {
  return `${instance}|${destination}|${chatId}`
}

// The messages that a person remembers: sent ones, to send them again, and ids of received ones, to drop duplicates.
import { RecentSet } from '../recent-set.ts'
import type { User } from '../server/user.ts'
import type { LocalDevice } from './local-device.ts'
import type { SentMessage } from './sent-message.ts'

/** How many own messages can be sent again, and how many ids of received messages are remembered. */
const REMEMBERED = 5_000
const SEEN = 100_000

export class MessageMemory {
  readonly #sent = new Map<string, SentMessage>()
  readonly #seen = new RecentSet<string>(SEEN)
  readonly #retries = new Map<string, number>()

  remember(sent: SentMessage): void {
    this.#sent.set(sent.id, sent)
    const [oldest] = this.#sent.keys()
    if (this.#sent.size > REMEMBERED && oldest !== undefined) this.#sent.delete(oldest)
  }

  sent(id: string): SentMessage | undefined {
    return this.#sent.get(id)
  }

  hasSeen(device: LocalDevice, author: User, id: string): boolean {
    return this.#seen.has(`${device.id} ${author.lid} ${id}`)
  }

  /** False when the device has seen the message before. */
  addSeen(device: LocalDevice, author: User, id: string): boolean {
    return this.#seen.add(`${device.id} ${author.lid} ${id}`)
  }

  /** Counts the retry requests of a device for one message and returns the new count. */
  countRetry(device: LocalDevice, id: string): number {
    const name = `${device.id} ${id}`
    const count = (this.#retries.get(name) ?? 0) + 1
    this.#retries.set(name, count)
    return count
  }
}

// Replaces the library's memory of retries with small maps.
//
// The library allocates its own caches in full for every connection and keeps timers for them.

import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import type { WASocket } from './library.ts'

const minute = 60_000

/** The account remembers the messages that we sent. These maps only hold what the owner's phone sent lately. */
const memories = {
  recentMessagesMap: { max: 50, ttlMs: 5 * minute },
  messageKeyIndex: { max: 50, ttlMs: 5 * minute },
  sessionRecreateHistory: { max: 200, ttlMs: 120 * minute },
  retryCounters: { max: 500, ttlMs: 15 * minute },
  baseKeys: { max: 200, ttlMs: 15 * minute },
}

export function boundRetryMemory({ messageRetryManager }: WASocket, clock: Clock): void {
  for (const [name, limits] of Object.entries(memories)) {
    Object.assign(messageRetryManager ?? {}, { [name]: new BoundedMap({ clock, ...limits }) })
  }
}

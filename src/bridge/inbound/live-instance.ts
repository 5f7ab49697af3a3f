// What the inbox worker keeps of an instance that is live in this process.

import type { InstanceName } from '../../core/ids.ts'
import { Semaphore } from '../../lib/queues/semaphore.ts'

export type LiveInstance = {
  name: InstanceName
  stopping: AbortController
  /** The rows that are not off the inbox yet. */
  pending: number
  cancelTimers: Set<() => void>
  /** Resolves when the stored rows, or the parked ones that are tried again, are in their queues; undefined when they are. */
  takingUp: Promise<void> | undefined
  /** A delivery has one of them during an attempt, and none while it waits. */
  places: Semaphore
}

/** How many attempts an instance makes at once. More attempts than this would each keep a row in memory. */
const attemptsAtOnce = 200

export function newLiveInstance(name: InstanceName): LiveInstance {
  return {
    name,
    stopping: new AbortController(),
    pending: 0,
    cancelTimers: new Set(),
    takingUp: undefined,
    places: new Semaphore(attemptsAtOnce),
  }
}

export function stopLive({ stopping, cancelTimers }: LiveInstance): void {
  stopping.abort()
  for (const cancel of cancelTimers) cancel()
}

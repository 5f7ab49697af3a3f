// Waits until an instance is ready, or returns why it stopped waiting.

import type { InstanceName } from '../core/ids.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { InstanceRegistry } from './instance-registry.ts'

export type WaitOutcome = 'ready' | 'timeout' | 'logged_out' | 'deleted'

type Deps = { registry: InstanceRegistry; clock: Clock }

/** A *transition* to logged_out ends the wait; an instance that is logged out at the beginning may still be paired. */
export async function waitReady(
  { registry, clock }: Deps,
  name: InstanceName,
  timeoutMs: number,
  gone: AbortSignal,
): Promise<WaitOutcome> {
  const settled = new AbortController()
  const wasLoggedOut = registry.get(name).state === 'logged_out'
  let outcome: WaitOutcome = 'timeout'
  let sawOtherState = !wasLoggedOut
  const look = () => {
    const state = registry.find(name)?.state
    if (state !== 'logged_out') sawOtherState = true
    if (state === undefined) outcome = 'deleted'
    else if (state === 'ready') outcome = 'ready'
    else if (state === 'logged_out' && sawOtherState) outcome = 'logged_out'
    else return
    settled.abort()
  }
  const unwatch = registry.watch(name, look)
  try {
    look()
    await sleep(clock, timeoutMs, AbortSignal.any([settled.signal, gone]))
  } finally {
    unwatch()
  }
  return outcome
}

// Waits until an instance is ready, or returns why it stopped waiting.

import type { InstanceName } from '../core/ids.ts'
import { NotHeldError } from '../core/nodes/hold.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { InstanceRegistry } from './instance-registry.ts'

export type WaitOutcome = 'ready' | 'timeout' | 'logged_out' | 'deleted'

type Deps = { registry: InstanceRegistry; clock: Clock }

/**
 * An instance that is logged out does not become ready by itself: it must be paired first. Rejects with a `NotHeldError` when
 * another node gets the instance meanwhile: only that node knows when the instance is ready.
 */
export async function waitReady(
  { registry, clock }: Deps,
  name: InstanceName,
  timeoutMs: number,
  gone: AbortSignal,
): Promise<WaitOutcome> {
  const settled = new AbortController()
  let outcome: WaitOutcome = 'timeout'
  const look = (end?: 'deleted' | 'lost') => {
    const state = registry.find(name)?.state
    if (state === undefined) outcome = 'deleted'
    else if (state === 'ready' || state === 'logged_out') outcome = state
    else return
    settled.abort(end)
  }
  const unwatch = registry.watch(name, look)
  try {
    look()
    await sleep(clock, timeoutMs, AbortSignal.any([settled.signal, gone]))
  } finally {
    unwatch()
  }
  if (settled.signal.reason === 'lost') throw new NotHeldError(name)
  return outcome
}

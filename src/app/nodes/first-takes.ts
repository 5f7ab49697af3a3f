// What a node takes before it serves.

import type { Holdings } from '../../instances/holdings.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Membership } from '../../nodes/membership/membership.ts'
import type { Rebalancer } from '../../nodes/rebalancer.ts'

/** How long the start waits for the instances of this node. Those that take longer are served later. */
const firstTakesMs = 30_000
const pauseMs = 250
/** How long one more look at what is missing waits for it. */
const followMs = 1000

type Held = {
  holdings: Pick<Holdings, 'servedCount'>
  membership: Pick<Membership, 'free' | 'heldCount' | 'hasRead'>
}

type Deps = Held & {
  rebalancer: Pick<Rebalancer, 'tick'>
  membership: Pick<Membership, 'follow'>
  isAlone: boolean
  clock: Clock
}

/**
 * A process that runs alone has no other node that could answer. A failed read or a row that a dead process still locks must not
 * make an instance unknown, so it looks for what is missing as long as the start waits.
 */
export async function takeFirst(deps: Deps): Promise<void> {
  const { rebalancer, membership, isAlone, clock } = deps
  const until = clock.monotonic() + firstTakesMs
  await rebalancer.tick()
  await membership.follow(firstTakesMs)
  while (isAlone && !isWhole(deps) && clock.monotonic() < until) {
    await sleep(clock, pauseMs)
    await rebalancer.tick()
    await membership.follow(Math.min(followMs, until - clock.monotonic()))
  }
}

/** Whether this node serves every instance. */
export function isWhole({ holdings, membership: { free, heldCount, hasRead } }: Held): boolean {
  return hasRead && free === 0 && holdings.servedCount === heldCount
}

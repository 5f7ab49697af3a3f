// Notices a connection that does not answer any more: probes it again and again, and hangs up when no answer comes.

import type { InstanceName } from '../core/ids.ts'
import type { Closing } from '../core/network/closing.ts'
import { writeReason } from '../core/reasons/reason.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { SessionRun } from './run-session.ts'

const probeEveryMs = 30_000
const probeDeadlineMs = 10_000

const unanswered: Closing = {
  cause: 'transient',
  code: 408,
  reason: writeReason('noPing'),
}

type Deps = { instance: InstanceName; clock: Clock; log: Log }
type Probed = Pick<SessionRun, 'session' | 'hangUp'>

/** Returns how to stop. */
export function keepProbing(deps: Deps, run: Probed): () => void {
  const over = new AbortController()
  void probeUntil(over.signal, deps, run)
  return () => {
    over.abort()
  }
}

async function probeUntil(over: AbortSignal, { instance, clock, log }: Deps, run: Probed): Promise<void> {
  try {
    for (;;) {
      await sleep(clock, probeEveryMs, over)
      if (over.aborted) return
      await run.session?.probe(probeDeadlineMs)
    }
  } catch (err) {
    if (over.aborted) return
    log.warn({ err, instance }, 'the connection does not answer, opening a new one')
    run.hangUp(unanswered)
  }
}

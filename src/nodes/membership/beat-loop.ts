// Beats every half second, and at the moment at which the patience with another node ends.

import type { NodeId } from '../../core/nodes/hold.ts'
import type { BeatAnswer } from '../../core/nodes/node.ts'
import { sleep, withDeadline } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Span } from './node-watch.ts'
import { beatDeadlineMs, beatEveryMs } from './times.ts'

type Deps = {
  beat: (id: NodeId) => Promise<BeatAnswer>
  /** The loop ends when this process is no node any more. */
  id: () => NodeId | undefined
  /** Starts the work that follows. The next beat waits for it only when this process is no node. */
  onAnswer: (id: NodeId, answer: BeatAnswer, span: Span) => Promise<void>
  /** The first moment after a beat was sent at which the patience with another node ends. */
  nextEnd: (asked: number) => number | undefined
  clock: Clock
  log: Log
  signal: AbortSignal
}

export async function beatUntilStopped(deps: Deps): Promise<void> {
  const { id: idNow, onAnswer, nextEnd, clock, signal } = deps
  for (let id = idNow(); id !== undefined && !signal.aborted; id = idNow()) {
    const asked = clock.monotonic()
    const answer = await beatOnce(deps, id, asked)
    if (answer) await onAnswer(id, answer, { asked, heard: clock.monotonic() })
    const due = Math.min(asked + beatEveryMs, nextEnd(asked) ?? Infinity)
    await sleep(clock, Math.max(0, due - clock.monotonic()), signal)
  }
}

/** Undefined when it did not go through in time, or when this process stops meanwhile. */
async function beatOnce(
  { beat, clock, log, signal }: Deps,
  id: NodeId,
  asked: number,
): Promise<BeatAnswer | undefined> {
  const late = () => new Error(`no answer within ${beatDeadlineMs} ms`)
  try {
    const answer = await withDeadline(clock, beatDeadlineMs, beat(id), late)
    // A process that was stopped may read an old answer before its timers run.
    if (clock.monotonic() - asked > beatDeadlineMs) throw late()
    return signal.aborted ? undefined : answer
  } catch (err) {
    if (!signal.aborted) log.warn({ err, node: id }, 'a beat did not go through')
    return undefined
  }
}

// The simulated helpdesk of the latency benchmark, in a process of its own: it notes when each message arrives.

import { calm } from '../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import { serveParent } from '../child.ts'
import { ownCpuMs } from '../own-use.ts'

const helpdesk = await SimHelpdesk.start({
  seed: 'bench latency',
  messagesPerMinute: 1_000_000,
  searchesPerMinute: 1_000_000,
  quirks: calm,
})

const desk = {
  cpuMs: ownCpuMs,
  facts: () => helpdesk.facts,
  posted: () => helpdesk.see.messageCount,
  /** When each message arrived, on the clock on the wall, without so many that came before. */
  arrivedAt: (skipped: number): Record<string, number> =>
    Object.fromEntries(
      helpdesk.see
        .messages()
        .slice(skipped)
        .flatMap(({ sourceId, createdAt }) => (sourceId === null ? [] : [[sourceId, createdAt]])),
    ),
}

export type HelpdeskDesk = typeof desk

serveParent(desk)

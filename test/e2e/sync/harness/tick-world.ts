// What tests of ticks ask of a world: the statuses at the helpdesk, the requests that set them, and the counts of receipts.

import assert from 'node:assert/strict'
import type { AgentWorld } from '../../../harness/agent-world.ts'
import { waitUntil } from '../../../harness/wait-until.ts'

/** The statuses that the service has set, in order, by the path of the message. */
export function statusRequests({ helpdesk }: Pick<AgentWorld, 'helpdesk'>): string[] {
  return helpdesk.requests.flatMap(({ method, path }) =>
    method === 'PATCH' && /\/messages\/\d+$/.test(path) ? path : [],
  )
}

/** How many receipts had each result. */
export async function receiptCounts(world: Pick<AgentWorld, 'service'>): Promise<Record<string, number>> {
  const { text } = await world.service.get('/metrics')
  const found = text.matchAll(
    /^service_realtime_events_total\{feature="read_receipt",result="(\w+)",instance="n0"\} (\d+)$/gm,
  )
  return Object.fromEntries([...found].map(([, result = '', count]) => [result, Number(count)]))
}

export async function countsReceipts(world: AgentWorld, expected: Record<string, number>): Promise<void> {
  const sum = (counts: Record<string, number>) => Object.values(counts).reduce((all, count) => all + count, 0)
  let seen: Record<string, number> = {}
  const holds = async () => {
    seen = await receiptCounts(world)
    return sum(seen) >= sum(expected)
  }
  await waitUntil(`receipts are counted as ${JSON.stringify(expected)}`, holds, { instead: () => seen })
  assert.deepEqual(seen, expected)
}

/** The agent writes, and Bob has the message. */
export async function delivered(world: AgentWorld, text: string) {
  const id = await world.write(text)
  return { id, message: await world.received(text) }
}

/** The requests that ask what the helpdesk shows of one message. */
export function looks({ helpdesk }: Pick<AgentWorld, 'helpdesk'>): string[] {
  return helpdesk.requests.flatMap(({ method, path }) =>
    method === 'GET' && path.includes('/messages?after=') ? path : [],
  )
}

// What a program asks of the service when it sends direct messages.

import assert from 'node:assert/strict'
import type { SeenMessage } from '../../../../sim/helpdesk/snapshots.ts'
import type { AgentWorld } from '../../../harness/agent-world.ts'
import type { Answer } from '../../../harness/http-request.ts'

/** Bob's number, as people write it. */
export const toBob = '+55 11 88888-0001'

export type DirectReply = {
  status: string
  waid: string
  queue_id: string
  expires_at: string
  error: string
  error_code: string
}

export function send({ service }: Pick<AgentWorld, 'service'>, body: unknown, instance = 'n0'): Promise<Answer> {
  return service.request('POST', `/api/instances/${instance}/messages`, { body })
}

/** Sends to Bob, and expects this status. */
export async function sendToBob(world: AgentWorld, body: object, expected = 200): Promise<DirectReply> {
  const answer = await send(world, { to: toBob, ...body })
  assert.equal(answer.status, expected, answer.text)
  return answer.body as DirectReply
}

/** Everything at the helpdesk that these messages of the network became. */
export function shownAs({ helpdesk }: AgentWorld, waid: string): SeenMessage[] {
  return helpdesk.messages().filter(({ sourceId }) => sourceId === waid)
}

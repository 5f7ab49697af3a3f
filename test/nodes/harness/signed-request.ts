// A request between nodes that a test makes by hand, so that it can change any part of it.

import type { ForwardHead } from '../../../src/core/nodes/owners.ts'
import { formatForwardHead } from '../../../src/nodes/forward-head.ts'
import { hashOf, NodeSignature } from '../../../src/nodes/signature.ts'
import { requestFrom } from '../../harness/http-request.ts'
import type { Answer } from '../../harness/http-request.ts'
import { apiToken, nodeSecret } from './two-nodes.ts'
import type { TestNode } from './two-nodes.ts'

type Options = {
  path: string
  head?: string
  body?: string
  /** Milliseconds by which the clock of the sender is ahead. */
  aheadMs?: number
  target?: string
  secret?: string
  /** What is sent instead of what was signed. */
  instead?: { method?: string; path?: string; body?: string; headers?: Record<string, string> }
}

export function askNode(node: TestNode, options: Options): Promise<Answer> {
  const { path, head = '', body = '{}', aheadMs = 0, target = node.id, secret = nodeSecret, instead = {} } = options
  const signature = new NodeSignature(secret, { now: () => Date.now() + aheadMs })
  const headers = signature.sign({ target, method: 'POST', path, head, bodyHash: hashOf(body) })
  return requestFrom(node.address, instead.method ?? 'POST', instead.path ?? path, {
    headers: { ...headers, ...instead.headers },
    body: instead.body ?? body,
  })
}

export function forwardHead(changes: Partial<ForwardHead> = {}): string {
  return formatForwardHead({
    instance: 'shop',
    epoch: 3,
    method: 'PATCH',
    path: '/api/instances/shop',
    headers: { host: 'public', authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
    client: '203.0.113.7',
    waitedMs: 0,
    ...changes,
  })
}

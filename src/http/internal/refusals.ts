// How the listener for nodes refuses: the error object of the public API, and a header when another node is to be asked.

import type { ServerResponse } from 'node:http'
import { BridgeError, statusOfCode } from '../../core/errors.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { Log } from '../../lib/log.ts'
import { refusalHeader } from '../../nodes/peer-routes.ts'
import type { Refusal } from '../../nodes/peer-routes.ts'
import type { Verdict } from '../../nodes/signature.ts'

/** This node does not serve the request and changed nothing. No client must take that for an answer to its request. */
export class NotServedHere extends BridgeError {
  readonly refusal: Refusal

  constructor(refusal: Refusal, sentence = sentences[refusal]) {
    super('SERVICE_NOT_HELD', sentence)
    this.refusal = refusal
  }
}

const sentences: Record<Refusal, string> = {
  leaving: 'the instance is on its way to another node',
  not_held: 'this node does not hold the instance',
  other_node: 'the request is for another node: this one has started anew, or has the address of another',
  distrusted: 'this node does not understand the other one: do they run the same version?',
}

export function refusalOf(verdict: Exclude<Verdict['is'], 'genuine'>): BridgeError {
  switch (verdict) {
    case 'unsigned':
      return new BridgeError('SERVICE_UNAUTHORIZED', 'only nodes are served here, and their requests are signed')
    case 'other_node':
      return new NotServedHere('other_node')
    case 'forged':
      return new NotServedHere('distrusted', 'the signature is wrong: is SERVICE_NODE_SECRET the same on all nodes?')
    case 'stale':
      return new NotServedHere('distrusted', 'the clocks of the two nodes differ by more than 5 minutes: set them')
  }
}

/** What is left of the body is not read: the connection ends. */
export function refuse(response: ServerResponse, error: unknown, log: Log): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const { code, message } = describe(error)
  if (code === 'SERVICE_INTERNAL') log.error({ err: error }, 'a request of another node failed')
  else log.warn({ code, reason: message }, 'a request of another node was refused')
  response.writeHead(statusOfCode[code], {
    'content-type': 'application/json; charset=utf-8',
    connection: 'close',
    ...(error instanceof NotServedHere && { [refusalHeader]: error.refusal }),
  })
  response.end(JSON.stringify({ error: message, error_code: code }))
}

function describe(error: unknown): { code: ErrorCode; message: string } {
  if (error instanceof BridgeError) return { code: error.code, message: error.message }
  return { code: 'SERVICE_INTERNAL', message: 'the node failed on this request; its log says why' }
}

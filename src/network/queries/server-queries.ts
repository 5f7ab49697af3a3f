// Asks the server questions over one connection.

import type { Clock } from '../../lib/clock.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'
import { childOf } from '../library/nodes.ts'
import { sendAndWait } from './send-and-wait.ts'
import type { Ask } from './user-sync.ts'

type Deps = {
  socket: WASocket
  clock: Clock
  gone: AbortSignal
  /** Runs work where faults are traced to the connection. */
  inside: <Result>(work: () => Result) => Result
}
type Attributes = { xmlns: string; type: string; to?: string; target?: string }

const server = 's.whatsapp.net'
const queryMs = 10_000

export class ServerQueries {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Resolves with the answer, which may be an error of the server. */
  query(attrs: Attributes, content: BinaryNode, ms = queryMs): Promise<BinaryNode> {
    const { socket, inside } = this.#deps
    const id = socket.generateMessageTag()
    const stanza = { tag: 'iq', attrs: { to: server, ...attrs, id }, content: [content] }
    const late = () => new Error(`no answer within ${ms} ms`)
    const exchange = { stanza, event: `TAG:${id}`, isAnswer: () => true, ms, late }
    return inside(() => sendAndWait(exchange, this.#deps))
  }

  /** Like query, but rejects when the server answers with an error. */
  readonly ask: Ask = async (attrs, content) => {
    const answer = await this.query(attrs, content)
    const error = answer.attrs['type'] === 'error' ? childOf(answer, 'error') : undefined
    if (error) throw new Error(`the network refused to answer (code ${error.attrs['code'] ?? 'unknown'})`)
    return answer
  }
}

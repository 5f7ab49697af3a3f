// Hands requests of nodes on to the cells that this node has started. A cell listens for this node only, so other nodes reach it
// under the address of this one. The cell judges the signature itself.

import { once } from 'node:events'
import { request as ask } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { ignoreRejection } from '../../lib/ignore.ts'
import { cellPath } from '../../nodes/peer-routes.ts'
import { NotServedHere } from './refusals.ts'

type Deps = {
  /** Where the cell with this key listens; undefined when there is none. */
  urlOf: (key: string) => string | undefined
}

/** They belong to one connection. */
const ofConnection = ['connection', 'keep-alive']

export class CellRelay {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** False when the request is for this node itself. A cell that does not answer looks like a node that is gone. */
  async admit(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { url = '' } = request
    if (!url.startsWith(cellPath)) return false
    const [key = '', ...rest] = url.slice(cellPath.length).split('/')
    const cell = this.#deps.urlOf(key)
    if (cell === undefined) throw new NotServedHere('other_node')
    await pass(request, response, `${cell}/${rest.join('/')}`).catch(() => response.destroy())
    return true
  }
}

async function pass(request: IncomingMessage, response: ServerResponse, url: string): Promise<void> {
  const { method, headers } = request
  const asked = ask(url, { method, headers: passedOn(headers), agent: false })
  response.once('close', () => asked.destroy())
  // From here on an error of the request has a listener, also after the answer has begun.
  pipeline(request, asked).catch(ignoreRejection)
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  response.writeHead(answer.statusCode ?? 500, passedOn(answer.headers))
  // The other node waits for the begin of a stream of events.
  response.flushHeaders()
  await pipeline(answer, response)
}

function passedOn(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.includes(name)))
}

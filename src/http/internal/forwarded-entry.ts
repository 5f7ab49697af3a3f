// Lets a request of a client in that another node has received. From here on it is the public request itself: the public routes
// check its token, read its body and answer it, on the connection of the other node.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { InstanceName } from '../../core/ids.ts'
import type { Standing } from '../../core/nodes/owners.ts'
import { parseForwardHead } from '../../nodes/forward-head.ts'
import type { Signed } from '../../nodes/signature.ts'
import type { ForwardedRequests } from '../forwarding/forwarded-requests.ts'
import { NotServedHere } from './refusals.ts'

type Deps = {
  /** The epoch is the one that the other node knows: a higher one than ours says that we have not looked yet. */
  standing: (instance: InstanceName, epoch: number) => Promise<Standing>
  forwarded: ForwardedRequests
  /** The public routes. */
  serve: (request: IncomingMessage, response: ServerResponse) => void
}

export class ForwardedEntry {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async admit(request: IncomingMessage, response: ServerResponse, { head: text, bodyHash }: Signed): Promise<void> {
    const { standing, forwarded, serve } = this.#deps
    const head = parseForwardHead(text)
    if (!head) throw new NotServedHere('distrusted')
    const stands = await standing(head.instance, head.epoch)
    if (stands !== 'held') throw new NotServedHere(stands)
    request.method = head.method
    request.url = head.path
    request.headers = head.headers
    forwarded.note(request, { head, bodyHash })
    serve(request, response)
  }
}

// What nodes tell and ask each other beside forwarded requests. All of it is small JSON.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { BridgeError } from '../../core/errors.ts'
import type { DestinationKey, InstanceName } from '../../core/ids.ts'
import { instanceNamePattern } from '../../core/instance.ts'
import type { RenewedAnswer } from '../../core/nodes/peers.ts'
import { ownViews, peerRoutes } from '../../nodes/peer-routes.ts'
import type { OwnView } from '../../nodes/peer-routes.ts'
import type { Signed } from '../../nodes/signature.ts'
import { readSmallBody } from './small-body.ts'

type Deps = {
  renewed: () => RenewedAnswer
  /** What this node shows of the instances that it holds. */
  views: Readonly<Record<OwnView, () => object>>
  look: () => void
  drain: (instance: InstanceName) => void
  /** A tenant was changed at another node. */
  settingsChanged: () => void
  /** An agent has asked for the QR code, in this helpdesk inbox. */
  showCode: (instance: InstanceName, destination: DestinationKey) => void
}

const validName = new RegExp(instanceNamePattern)

export class PeerCalls {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async answer(request: IncomingMessage, response: ServerResponse, { path, bodyHash }: Signed): Promise<void> {
    const answer = this.#follow(path, parse(await readSmallBody(request, bodyHash)))
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
    response.end(JSON.stringify(answer))
  }

  #follow(path: string, facts: unknown): object {
    const view = ownViews.find((each) => peerRoutes[each] === path)
    if (view) return this.#deps.views[view]()
    switch (path) {
      case peerRoutes.renewed:
        return this.#deps.renewed()
      case peerRoutes.look:
        this.#deps.look()
        return {}
      case peerRoutes.drain:
        this.#deps.drain(instanceOf(facts))
        return {}
      case peerRoutes.settings:
        this.#deps.settingsChanged()
        return {}
      case peerRoutes.code:
        this.#deps.showCode(instanceOf(facts), destinationOf(facts))
        return {}
      default:
        throw new Error('every route of nodes is answered here or forwarded')
    }
  }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw new BridgeError('SERVICE_BAD_REQUEST', 'the body is not valid JSON', { cause })
  }
}

function instanceOf(facts: unknown): InstanceName {
  const { instance } = (facts ?? {}) as { instance?: unknown }
  if (typeof instance === 'string' && validName.test(instance)) return instance
  throw new BridgeError('SERVICE_BAD_REQUEST', 'instance must be the name of an instance')
}

function destinationOf(facts: unknown): DestinationKey {
  const { destination } = (facts ?? {}) as { destination?: unknown }
  if (typeof destination === 'string') return destination
  throw new BridgeError('SERVICE_BAD_REQUEST', 'destination must be the key of a helpdesk inbox')
}

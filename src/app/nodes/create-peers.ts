// Creates the way to other nodes and the listener for them.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { NodeId } from '../../core/nodes/hold.ts'
import type { Config } from '../../config/config.ts'
import { ForwardedRequests } from '../../http/forwarding/forwarded-requests.ts'
import { CellRelay } from '../../http/internal/cell-relay.ts'
import { EventsEntry } from '../../http/internal/events-entry.ts'
import { ForwardedEntry } from '../../http/internal/forwarded-entry.ts'
import { InternalListener } from '../../http/internal/internal-listener.ts'
import { PeerCalls } from '../../http/internal/peer-calls.ts'
import type { Clock } from '../../lib/clock.ts'
import { Egress } from '../../lib/egress/egress.ts'
import { privateAllowed } from '../../lib/egress/policy.ts'
import { PeerClient } from '../../nodes/peer-client.ts'
import { NodeSignature } from '../../nodes/signature.ts'
import type { Base } from '../base.ts'

/** A peer on the own network accepts a connection at once, or is gone. */
const connectTimeoutMs = 1000
const quickConnections = 16
/** Each wait for an instance to become ready keeps one for minutes. */
const patientConnections = 64

type PeerBase = { config: Pick<Config, 'nodes'>; clock: Clock; stack: AsyncDisposableStack }

export type PeerParts = { signature: NodeSignature; peers: PeerClient; forwarded: ForwardedRequests }

export function createPeers({ config, clock, stack }: PeerBase): PeerParts {
  const signature = new NodeSignature(config.nodes.secret, clock)
  const egressOf = (connectionsPerOrigin: number) =>
    stack.use(new Egress({ policy: privateAllowed, clock, connectTimeoutMs, connectionsPerOrigin }))
  const peers = new PeerClient({ signature, quick: egressOf(quickConnections), patient: egressOf(patientConnections) })
  return { signature, peers, forwarded: new ForwardedRequests() }
}

type Ports = {
  /** Another id after this node joined again. */
  self: () => NodeId
  standing: ConstructorParameters<typeof ForwardedEntry>[0]['standing']
  calls: ConstructorParameters<typeof PeerCalls>[0]
  events: ConstructorParameters<typeof EventsEntry>[0]
  /** The cells that this node has started. */
  cells: ConstructorParameters<typeof CellRelay>[0]
  /** The public routes. */
  serve: (request: IncomingMessage, response: ServerResponse) => void
}

/** Resolves to the URL of the listener. The public routes must be ready before. */
export async function listenForNodes(
  { config, log, stack }: Pick<Base, 'log' | 'stack'> & { config: Pick<Config, 'nodes'> },
  { signature, forwarded }: Pick<PeerParts, 'signature' | 'forwarded'>,
  { self, standing, calls, events, cells, serve }: Ports,
): Promise<string> {
  const { listen } = config.nodes
  if (!listen) throw new Error('SERVICE_NODE_LISTEN is not set')
  const forwards = new ForwardedEntry({ standing, forwarded, serve })
  const relay = new CellRelay(cells)
  const entries = { forwards, calls: new PeerCalls(calls), events: new EventsEntry(events), cells: relay }
  const listener = stack.use(new InternalListener({ self, signature, ...entries, log }))
  return listener.listen(listen)
}

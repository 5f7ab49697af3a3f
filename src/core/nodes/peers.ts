// What a node asks of another node over HTTP. The database decides; this only makes it quick.

import type { InstanceName } from '../ids.ts'
import type { NodeId } from './hold.ts'

export type Peer = { id: NodeId; address: string }

/** What a node answers when a node that cannot reach the database asks it. */
export type RenewedAnswer = {
  /** The milliseconds since its last own beat went through. */
  beatAgeMs: number
  /** For how long its own beats have gone through without a gap. It may bury others only after the patience. */
  watchedMs: number
}

export type Peers = {
  /** Undefined when the peer does not answer in time. */
  renewed(peer: Peer, timeoutMs: number): Promise<RenewedAnswer | undefined>
  /** The peer reads what it holds now, instead of with its next beat. Best effort. */
  look(peer: Peer): Promise<void>
  /** The peer has new waiting messages of an instance that it holds. Best effort. */
  drain(peer: Peer, instance: InstanceName): Promise<void>
}

// Listens to the events of all other nodes while a listener of this one is connected: one stream to each node.
//
// A stream has no memory. When one begins, events before it may have been missed, so the listeners of this node are told to start
// anew. The same happens when a node is gone: its last words may be lost.

import type { InstanceName } from '../core/ids.ts'
import type { LiveKind } from '../core/live.ts'
import type { NodeId } from '../core/nodes/hold.ts'
import type { Peer } from '../core/nodes/peers.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { NodeEvent, Subject } from './node-events.ts'
import { NodeStream } from './node-stream.ts'
import type { OpenStream } from './node-stream.ts'

type Deps = {
  /** Every other living node, also one that drains. */
  peersNow: () => readonly Peer[]
  open: OpenStream
  /** The epoch under which this node holds the instance; undefined when it does not. */
  epochOf: (instance: InstanceName) => number | undefined
  hub: {
    tellHere(kind: LiveKind, data: unknown): void
    startAnew(): void
  }
  clock: Clock
  log: Log
}

const lookMs = 1000
/** How long a listener waits for the streams. A stream that begins later tells it to start anew. */
const beginMs = 1000
const mostEpochs = 20_000
/** Much longer than an event is on its way. */
const epochsMs = 600_000

export class OtherNodes {
  readonly #deps: Deps
  readonly #streams = new Map<NodeId, NodeStream>()
  /** The newest epoch under which each instance was told. Two streams may bring the events of a move in any order. */
  readonly #epochs: BoundedMap<number>
  #cancelLook: () => void = () => undefined

  constructor(deps: Deps) {
    this.#deps = deps
    this.#epochs = new BoundedMap({ clock: deps.clock, max: mostEpochs, ttlMs: epochsMs })
  }

  /** The first listener comes. Nodes that join later are found by looking again and again. */
  listen(): void {
    const { clock, hub, peersNow } = this.#deps
    this.#cancelLook = clock.after(lookMs, () => {
      this.listen()
    })
    const peers = peersNow()
    const gone = [...this.#streams.keys()].filter((id) => !peers.some((peer) => peer.id === id))
    for (const id of gone) this.#end(id)
    if (gone.length > 0) hub.startAnew()
    for (const peer of peers) if (!this.#streams.has(peer.id)) this.#begin(peer)
  }

  /** No listener is left. */
  rest(): void {
    this.#cancelLook()
    for (const id of [...this.#streams.keys()]) this.#end(id)
  }

  /** Resolves when every stream has begun or failed once, but after a second at the latest. */
  async begun(): Promise<void> {
    const waiting = [...this.#streams.values()].filter(({ isTried }) => !isTried)
    if (waiting.length === 0) return
    const over = new AbortController()
    await Promise.race([Promise.all(waiting.map(({ tried }) => tried)), sleep(this.#deps.clock, beginMs, over.signal)])
    over.abort()
  }

  /** What other nodes need to know to keep the events of an instance in order. */
  subjectOf(instance: InstanceName): Subject | undefined {
    const epoch = this.#deps.epochOf(instance)
    return epoch === undefined ? undefined : { instance, epoch }
  }

  /** Whether a node tells of an instance that another node has taken since. It may be this node, after a pause. */
  isOld({ instance, epoch }: Subject): boolean {
    const newest = Math.max(this.#epochs.get(instance) ?? 0, this.#deps.epochOf(instance) ?? 0)
    if (epoch < newest) return true
    this.#epochs.set(instance, epoch)
    return false
  }

  #begin(peer: Peer): void {
    const { open, hub, clock, log } = this.#deps
    const onBegun = () => {
      hub.startAnew()
    }
    const onEvent = (event: NodeEvent) => {
      this.#hear(event)
    }
    this.#streams.set(peer.id, new NodeStream({ peer, open, onBegun, onEvent, clock, log }))
  }

  #end(id: NodeId): void {
    this.#streams.get(id)?.end()
    this.#streams.delete(id)
  }

  #hear({ kind, data, subject }: NodeEvent): void {
    if (!subject || !this.isOld(subject)) this.#deps.hub.tellHere(kind, data)
  }
}

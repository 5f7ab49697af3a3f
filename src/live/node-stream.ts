// The stream of events from one other node. When it ends, the node is asked again after a pause.

import type { Peer } from '../core/nodes/peers.ts'
import { backoffMs } from '../lib/backoff.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import { Deadline } from '../lib/egress/deadline.ts'
import type { Log } from '../lib/log.ts'
import { aliveMs } from './listeners.ts'
import { NodeEventReader } from './node-events.ts'
import type { NodeEvent } from './node-events.ts'

/** Resolves when the stream begins. */
export type OpenStream = (peer: Peer, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>

type Deps = {
  peer: Peer
  open: OpenStream
  onBegun: () => void
  onEvent: (event: NodeEvent) => void
  clock: Clock
  log: Log
}

const beginMs = 5000
/** Two comments did not come. */
const silentMs = 2 * aliveMs + 5000
const pauses = { firstMs: 1000, ceilingMs: 15_000 }
/** Until then a node that died is seen as dead. */
const failuresUntilWarning = 4

export class NodeStream {
  readonly #deps: Deps
  readonly #over = new AbortController()
  readonly #tried = Promise.withResolvers<undefined>()
  isTried = false

  constructor(deps: Deps) {
    this.#deps = deps
    void this.#run()
  }

  /** Resolves when the stream has begun or failed for the first time. */
  get tried(): Promise<undefined> {
    return this.#tried.promise
  }

  end(): void {
    this.#over.abort()
    this.#noteTried()
  }

  async #run(): Promise<void> {
    const { peer, clock, log } = this.#deps
    const { signal } = this.#over
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        await this.#hear(() => {
          failures = 0
        })
      } catch (err) {
        const isLasting = failures === failuresUntilWarning
        if (isLasting) log.warn({ err, node: peer.id }, 'the live events of another node cannot be heard')
      }
      this.#noteTried()
      await sleep(clock, backoffMs(failures, pauses), signal)
    }
  }

  async #hear(begun: () => void): Promise<void> {
    const { peer, open, onBegun, onEvent, clock } = this.#deps
    const silent = new AbortController()
    const deadline = new Deadline(clock, beginMs, () => {
      silent.abort(new Error('nothing came'))
    })
    try {
      const body = await open(peer, AbortSignal.any([this.#over.signal, silent.signal]))
      begun()
      onBegun()
      this.#noteTried()
      const reader = new NodeEventReader()
      deadline.restart(silentMs)
      for await (const chunk of body) {
        deadline.restart(silentMs)
        for (const event of reader.read(chunk)) {
          if (this.#over.signal.aborted) return
          onEvent(event)
        }
      }
    } finally {
      deadline.end()
    }
  }

  #noteTried(): void {
    this.isTried = true
    this.#tried.resolve(undefined)
  }
}

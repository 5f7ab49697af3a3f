// Tells another node what happens at this one, for as long as it listens.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LiveSink } from '../../core/live.ts'
import type { Signed } from '../../nodes/signature.ts'
import { sinkOf } from '../live-sink.ts'
import { readSmallBody } from './small-body.ts'

type Deps = {
  /** Throws when the service stops. Returns how the listener leaves. */
  join: (listener: LiveSink) => () => void
}

export class EventsEntry {
  readonly #deps: Deps
  readonly #open = new Set<LiveSink>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async admit(request: IncomingMessage, response: ServerResponse, { bodyHash }: Signed): Promise<void> {
    await readSmallBody(request, bodyHash)
    if (response.destroyed) return
    const sink = sinkOf(response)
    const leave = this.#deps.join(sink)
    this.#open.add(sink)
    response.once('close', () => {
      this.#open.delete(sink)
      leave()
    })
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    // The other node hears that the stream has begun.
    response.flushHeaders()
  }

  /** Otherwise the listener for nodes would wait for streams that never end by themselves. */
  close(): void {
    for (const sink of this.#open) sink.end('')
  }
}

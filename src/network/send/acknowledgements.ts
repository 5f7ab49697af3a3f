// The server's word on each message that has left: taken, or refused with a code.

import { SendError } from '../../core/network.ts'
import { withDeadline } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'

type Deps = { socket: WASocket; clock: Clock; gone: AbortSignal }
type Waiting = { count: number; heard: PromiseWithResolvers<undefined> }

const ackTimeoutMs = 15_000
const restricted = 463
const tooMany = 429

export class Acknowledgements {
  readonly #deps: Deps
  readonly #waiting = new Map<string, Waiting>()

  constructor(deps: Deps) {
    this.#deps = deps
    deps.socket.ws.on('CB:ack,class:message', ({ attrs }: BinaryNode) => {
      const { heard } = this.#waiting.get(attrs['id'] ?? '') ?? {}
      if (attrs['error'] === undefined) heard?.resolve(undefined)
      else heard?.reject(refusal(Number(attrs['error'])))
    })
    deps.gone.addEventListener('abort', () => {
      for (const { heard } of this.#waiting.values()) heard.reject(lostError())
    })
  }

  /** Writes the stanza and resolves when the server has taken it; whatever fails from here on may have arrived. */
  async send(id: string, stanza: BinaryNode): Promise<void> {
    const { clock, gone, socket } = this.#deps
    if (gone.aborted) throw new SendError('not_sent', 'the connection was lost before the message left')
    const waiting = this.#expect(id)
    try {
      const both = Promise.all([socket.sendNode(stanza), waiting.heard.promise])
      await withDeadline(clock, ackTimeoutMs, both, lateError)
    } catch (cause) {
      throw cause instanceof SendError ? cause : lostError(cause)
    } finally {
      waiting.count -= 1
      if (waiting.count === 0) this.#waiting.delete(id)
    }
  }

  /** A message may be sent twice at once: one answer is for both. */
  #expect(id: string): Waiting {
    const waiting = this.#waiting.get(id) ?? { count: 0, heard: Promise.withResolvers() }
    waiting.heard.promise.catch(() => undefined)
    waiting.count += 1
    this.#waiting.set(id, waiting)
    return waiting
  }
}

function refusal(code: number): SendError {
  if (code >= 500 || code === tooMany) {
    return new SendError('not_sent', `the network could not take the message just now (code ${code})`, { code })
  }
  const reason =
    code === restricted
      ? 'the network lets this account write only to people who wrote to it before (code 463)'
      : `the network refused the message (code ${code})`
  return new SendError('refused', reason, { code })
}

function lostError(cause?: unknown): SendError {
  return new SendError('unknown', 'the connection was lost before the network acknowledged the message', { cause })
}

function lateError(): SendError {
  return new SendError('unknown', `the network did not acknowledge the message within ${ackTimeoutMs / 1000} s`)
}

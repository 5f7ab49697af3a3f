// Writes stanzas and waits for the server's answer: the message is acknowledged, or refused with a code.

import type { NetworkMessageId } from '../../core/ids.ts'
import { SendError } from '../../core/network.ts'
import { writeReason } from '../../core/reasons/reason.ts'
import { withDeadline } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import { getOrCreate } from '../../lib/keyed.ts'
import { encodeStanza } from '../library/encode-stanza.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'

type Deps = { socket: WASocket; clock: Clock; gone: AbortSignal }
/** The sends of one message that wait for the same answer. */
type Waiting = { count: number; answer: PromiseWithResolvers<Acknowledgement> }
/** The attributes of the server's answer. They may say that something which the sender knows is out of date. */
export type Acknowledgement = BinaryNode['attrs']

const ackTimeoutMs = 15_000
/** The account may not write to this person first. */
export const firstMessageRefused = 463
const tooMany = 429
/** The account has begun as many new chats as it may. Other clients do not send such a message again either. */
const newChatsCapped = 475

export class Acknowledgements {
  readonly #deps: Deps
  readonly #waiting = new Map<NetworkMessageId, Waiting>()

  constructor(deps: Deps) {
    this.#deps = deps
    deps.socket.ws.on('CB:ack,class:message', ({ attrs }: BinaryNode) => {
      const { answer } = this.#waiting.get(attrs['id'] ?? '') ?? {}
      if (attrs['error'] === undefined) answer?.resolve(attrs)
      else answer?.reject(refusal(Number(attrs['error'])))
    })
    deps.gone.addEventListener('abort', () => {
      for (const { answer } of this.#waiting.values()) answer.reject(lostError())
    })
  }

  /** Writes the stanza and resolves when the server has acknowledged it. If it fails now, the message may have arrived. */
  async send(id: NetworkMessageId, stanza: BinaryNode): Promise<Acknowledgement> {
    const { clock, gone, socket } = this.#deps
    if (gone.aborted) throw new SendError('not_sent', writeReason('lostBeforeLeaving'))
    const waiting = this.#expect(id)
    try {
      const both = Promise.all([waiting.answer.promise, socket.sendRawMessage(encodeStanza(stanza))])
      const [acknowledgement] = await withDeadline(clock, ackTimeoutMs, both, lateError)
      return acknowledgement
    } catch (cause) {
      throw cause instanceof SendError ? cause : lostError(cause)
    } finally {
      waiting.count -= 1
      if (waiting.count === 0) this.#waiting.delete(id)
    }
  }

  /** A message may be sent twice at the same time. Then one answer counts for both. */
  #expect(id: NetworkMessageId): Waiting {
    const waiting = getOrCreate(this.#waiting, id, (): Waiting => ({ count: 0, answer: Promise.withResolvers() }))
    waiting.answer.promise.catch(ignoreRejection)
    waiting.count += 1
    return waiting
  }
}

function refusal(code: number): SendError {
  if (code >= 500 || code === tooMany) {
    return new SendError('not_sent', writeReason('networkBusy', { code }), { code })
  }
  return new SendError('refused', reasonOf(code), { code })
}

function reasonOf(code: number): string {
  if (code === firstMessageRefused) return writeReason('firstMessageRefused')
  return code === newChatsCapped ? writeReason('newChatsCapped') : writeReason('networkRefused', { code })
}

function lostError(cause?: unknown): SendError {
  return new SendError('unknown', writeReason('lostBeforeAcknowledged'), { cause })
}

function lateError(): SendError {
  return new SendError('unknown', writeReason('unacknowledged', { seconds: ackTimeoutMs / 1000 }))
}

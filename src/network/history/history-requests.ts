// Asks the owner's phone for older messages of a chat and waits until its answer is stored.
//
// The phone names the request in its answer. A phone that does not name it is understood by the chat of the answer.

import type { Anchor } from '../../core/history/past-events.ts'
import type { Jid } from '../../core/ids.ts'
import { orAbort } from '../../lib/abort.ts'
import type { WASocket } from '../library/library.ts'

type Deps = {
  socket: Pick<WASocket, 'fetchMessageHistory'>
  /** Aborts when the connection ends. */
  gone: AbortSignal
}

type Outcome = { seen: number } | { error: Error }
type Waiting = { chat: Jid; requestId: string | undefined; settle: (outcome: Outcome) => void }

/** `chats` are the chats of the answer, as the phone names them. */
type Answer = { requestId: string | null | undefined; chats: ReadonlySet<Jid> }

export class HistoryRequests {
  readonly #deps: Deps
  readonly #waiting = new Set<Waiting>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Resolves with how many messages came. Rejects if the signal aborts or the connection ends first. */
  async ask({ key, at }: Anchor, count: number, signal: AbortSignal): Promise<{ seen: number }> {
    const { socket, gone } = this.#deps
    const { promise, resolve, reject } = Promise.withResolvers<{ seen: number }>()
    const settle = (outcome: Outcome) => {
      if ('error' in outcome) reject(outcome.error)
      else resolve(outcome)
    }
    const waiting: Waiting = { chat: key.chat, requestId: undefined, settle }
    // The answer may come before the library has returned the id of the request.
    this.#waiting.add(waiting)
    const asked = { remoteJid: key.chat, id: key.id, fromMe: key.fromMe }
    try {
      const ended = () => new Error('the connection ended before the phone answered')
      const answered = async () => {
        waiting.requestId = await socket.fetchMessageHistory(count, asked, at)
        return promise
      }
      return await orAbort(orAbort(answered(), gone, ended), signal)
    } finally {
      this.#waiting.delete(waiting)
    }
  }

  /** The answer is stored, or it cannot be read. */
  settle(answer: Answer, outcome: Outcome): void {
    const waiting = this.#askedFor(answer)
    if (waiting) waiting.settle(outcome)
  }

  #askedFor({ requestId, chats }: Answer): Waiting | undefined {
    const all = [...this.#waiting]
    const named = requestId ? all.find((one) => one.requestId === requestId) : undefined
    return named ?? all.find(({ chat }) => chats.has(chat))
  }
}

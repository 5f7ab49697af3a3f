// Sends a stanza to the server and waits for the stanza that answers it.

import { orAbort } from '../../lib/abort.ts'
import { withDeadline } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'

type Exchange = {
  stanza: BinaryNode
  /** The library's event that carries the answer. */
  event: string
  isAnswer: (node: BinaryNode) => boolean
  ms: number
  /** The error when no answer comes within `ms`. */
  late: () => Error
}
type Deps = { socket: WASocket; clock: Clock; gone: AbortSignal }

export async function sendAndWait(exchange: Exchange, { socket, clock, gone }: Deps): Promise<BinaryNode> {
  const { stanza, event, isAnswer, ms, late } = exchange
  if (gone.aborted) throw goneError()
  const answer = Promise.withResolvers<BinaryNode>()
  const listen = (node: BinaryNode) => {
    if (isAnswer(node)) answer.resolve(node)
  }
  socket.ws.on(event, listen)
  try {
    const both = Promise.all([orAbort(answer.promise, gone, goneError), socket.sendNode(stanza)])
    const [node] = await withDeadline(clock, ms, both, late)
    return node
  } finally {
    socket.ws.off(event, listen)
    // Settles the promise of an answer that never came, so that it no longer listens to `gone`.
    answer.reject(goneError())
  }
}

function goneError(): Error {
  return new Error('the connection has ended')
}

// A query to the server and its answer, with a deadline on the service's clock.

import { withDeadline } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'

type Limits = { clock: Clock; ms: number; gone: AbortSignal }

export async function askServer(socket: WASocket, query: BinaryNode, { clock, ms, gone }: Limits): Promise<BinaryNode> {
  if (gone.aborted) throw goneError()
  const id = socket.generateMessageTag()
  const answer = Promise.withResolvers<BinaryNode>()
  const giveUp = () => {
    answer.reject(goneError())
  }
  socket.ws.once(`TAG:${id}`, answer.resolve)
  gone.addEventListener('abort', giveUp, { once: true })
  try {
    const sent = socket.sendNode({ ...query, attrs: { ...query.attrs, id } })
    const both = Promise.all([answer.promise, sent])
    const [answered] = await withDeadline(clock, ms, both, () => new Error(`no answer within ${ms} ms`))
    return answered
  } finally {
    socket.ws.off(`TAG:${id}`, answer.resolve)
    gone.removeEventListener('abort', giveUp)
  }
}

function goneError(): Error {
  return new Error('the connection has ended')
}

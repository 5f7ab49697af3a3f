// Rejects a call that rings.
//
// The library has a stanza for this too, but does not notice an acknowledgement that carries an error.

import type { Jid, NetworkMessageId } from '../../core/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import type { WASocket } from '../library/library.ts'
import { sendAndWait } from '../queries/send-and-wait.ts'

type RejectedCall = { callId: NetworkMessageId; caller: Jid; own: Jid }
type Deps = { socket: WASocket; clock: Clock; gone: AbortSignal }

const ackTimeoutMs = 10_000

/** Resolves when the server has acknowledged the rejection. */
export async function rejectCall({ callId, caller, own }: RejectedCall, deps: Deps): Promise<void> {
  const id = deps.socket.generateMessageTag()
  const reject = { tag: 'reject', attrs: { 'call-id': callId, 'call-creator': caller, count: '0' } }
  const { attrs } = await sendAndWait(
    {
      stanza: { tag: 'call', attrs: { id, from: own, to: caller }, content: [reject] },
      event: 'CB:ack,class:call',
      isAnswer: (node) => node.attrs['id'] === id,
      ms: ackTimeoutMs,
      late: () => new Error(`the network did not confirm the rejection within ${ackTimeoutMs / 1000} s`),
    },
    deps,
  )
  if (attrs['error'] !== undefined) throw new Error(`the network refused to reject the call: ${attrs['error']}`)
}

// Acknowledges and counts what belongs to no chat: status updates and posts of channels. The library does not get them.
//
// The library answers a status that it cannot open with an error. The server then delivers this status first at every login
// and keeps the other messages back. The library does not know the newer `<status>` stanza at all, and the server ends the
// stream of a client that does not acknowledge it. The library opens the posts of channels, and answers an unknown kind of
// post with an error.

import type { InstanceName } from '../../core/ids.ts'
import type { Reception } from '../../core/network/reception.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import { runOutside } from '../connection/fault-isolation.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'

type Deps = { socket: WASocket; instance: InstanceName; reception: Partial<Reception> }

export function isPassedOver(event: string, stanza: BinaryNode): boolean {
  return event === 'CB:message' && kindOf(stanza) !== undefined
}

export function acknowledgePassedOver({ socket, instance, reception }: Deps): void {
  const acknowledge = (stanza: BinaryNode, kind: string) => {
    socket.sendMessageAck(stanza).catch(ignoreRejection)
    runOutside(() => reception.onPassedOver?.(instance, kind))
  }
  socket.ws.on('CB:status', (stanza: BinaryNode) => {
    acknowledge(stanza, 'status')
  })
  socket.ws.on('CB:message', (stanza: BinaryNode) => {
    const kind = kindOf(stanza)
    if (kind !== undefined) acknowledge(stanza, kind)
  })
}

function kindOf({ attrs }: BinaryNode): string | undefined {
  const { from = '' } = attrs
  if (from === 'status@broadcast') return 'status'
  return from.endsWith('@newsletter') ? 'newsletter' : undefined
}

// Acknowledges status updates and counts them. They belong to no chat, and the library does not get them.
//
// The library answers a status that it cannot open with an error. The server then delivers this status first at every login
// and keeps the other messages back. The library does not know the newer `<status>` stanza at all, and the server ends the
// stream of a client that does not acknowledge it.

import type { InstanceName } from '../../core/ids.ts'
import type { Reception } from '../../core/network.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import { runOutside } from '../connection/fault-isolation.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'

type Deps = { socket: WASocket; instance: InstanceName; reception: Partial<Reception> }

const statusJid = 'status@broadcast'

export function isStatusUpdate(event: string, stanza: BinaryNode): boolean {
  return event === 'CB:message' && stanza.attrs['from'] === statusJid
}

export function acknowledgeStatusUpdates({ socket, instance, reception }: Deps): void {
  const acknowledge = (stanza: BinaryNode) => {
    socket.sendMessageAck(stanza).catch(ignoreRejection)
    runOutside(() => reception.onPassedOver?.(instance, 'status'))
  }
  socket.ws.on('CB:status', acknowledge)
  socket.ws.on('CB:message', (stanza: BinaryNode) => {
    if (isStatusUpdate('CB:message', stanza)) acknowledge(stanza)
  })
}

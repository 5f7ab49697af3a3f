// Reports that a person or a group has another picture. A change of a group is also stored as an event of the group.

import { parseChat } from '../../core/address.ts'
import type { Chat } from '../../core/address.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { PictureChange, RealtimeReception } from '../../core/realtime.ts'
import { runOutside } from '../connection/fault-isolation.ts'
import { personOf } from '../decode/origin.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'
import { childOf } from '../library/nodes.ts'

type Deps = { socket: WASocket; instance: InstanceName; reception: Partial<RealtimeReception> }

export function reportPictureChanges({ socket, instance, reception }: Deps): void {
  socket.ws.on('CB:notification,type:picture', (stanza: BinaryNode) => {
    const change = changeOf(stanza)
    if (change) runOutside(() => reception.onPictureChanged?.(instance, change))
  })
}

function changeOf(stanza: BinaryNode): PictureChange | undefined {
  const set = childOf(stanza, 'set')
  const owner = ownerOf(stanza.attrs['from'], (set ?? childOf(stanza, 'delete'))?.attrs['jid'])
  return owner && { owner, pictureId: set?.attrs['id'] ?? null }
}

/** The stanza may name a person by phone number, by LID, or by both. */
function ownerOf(from = '', named = ''): Chat | undefined {
  const chat = parseChat(from)
  if (chat?.kind === 'group') return chat
  const person = personOf(from, named)
  return person && { kind: 'person', ...person }
}

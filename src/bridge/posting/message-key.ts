// Names a received message as the network needs it for receipts, reactions, quotes and revokes.

import { chatJid, personJid } from '../../core/address.ts'
import type { Envelope, MessageKey } from '../../core/message.ts'

export function messageKeyOf({ chat, id, fromMe, sender, address }: Envelope): MessageKey {
  if (address) return { ...address, id, fromMe }
  return { chat: chatJid(chat), id, fromMe, participant: chat.kind === 'group' ? personJid(sender) : null }
}

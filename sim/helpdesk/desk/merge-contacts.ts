// Merges two contacts: the base keeps its values, fills its gaps from the other contact and gets its addresses.
// The other contact's conversations keep their addresses, so they show the base's phone number and the old source_id.
// Chatwoot moves what the other contact has and then destroys it with everything that it got meanwhile.

import type { ContactRow, MessageRow } from '../state/rows.ts'
import { touchContact } from './contacts.ts'
import type { Desk } from './desk.ts'

export async function mergeContacts(desk: Desk, base: ContactRow, mergee: ContactRow): Promise<void> {
  if (base === mergee) return
  const { state } = desk
  const { mergeMs } = desk.settings
  if (mergeMs > 0) {
    const known = new Set([...ofContact(desk, mergee), ...mergee.contactInboxes.flatMap((row) => row.conversations)])
    await new Promise<void>((resolve) => desk.clock.after(mergeMs, resolve))
    for (const row of mergee.contactInboxes) {
      for (const conversation of row.conversations) if (!known.has(conversation)) state.removeConversation(conversation)
    }
    for (const message of ofContact(desk, mergee)) if (!known.has(message)) removeMessage(desk, message)
  }
  for (const row of mergee.contactInboxes) {
    row.contact = base
    row.updatedAt = desk.clock.now()
    base.contactInboxes.push(row)
    for (const conversation of row.conversations) conversation.contact = base
  }
  for (const message of ofContact(desk, mergee)) {
    message.sender = { type: 'Contact', contact: base }
    desk.emit({ event: 'message_updated', message })
  }
  mergee.contactInboxes = []
  state.removeContact(mergee)
  state.unindexContact(base)
  base.name ||= mergee.name
  base.email ??= mergee.email
  base.phoneNumber ??= mergee.phoneNumber
  base.identifier ??= mergee.identifier
  base.avatar ??= mergee.avatar
  base.lastActivityAt ??= mergee.lastActivityAt
  base.additionalAttributes = { ...mergee.additionalAttributes, ...base.additionalAttributes }
  base.customAttributes = { ...mergee.customAttributes, ...base.customAttributes }
  state.indexContact(base)
  touchContact(desk, base)
  desk.emit({ event: 'contact_updated', contact: base })
}

function ofContact({ state }: Desk, contact: ContactRow): MessageRow[] {
  return [...state.messages.all()].filter(({ sender }) => sender?.type === 'Contact' && sender.contact === contact)
}

function removeMessage({ state }: Desk, message: MessageRow): void {
  message.conversation.messages = message.conversation.messages.filter((each) => each !== message)
  state.messages.delete(message)
}

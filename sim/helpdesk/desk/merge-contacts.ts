// Merges two contacts: the base keeps its values, fills its gaps from the other contact and gets its addresses.

import type { ContactRow } from '../state/rows.ts'
import { touchContact } from './contacts.ts'
import type { Desk } from './desk.ts'

export function mergeContacts(desk: Desk, base: ContactRow, mergee: ContactRow): void {
  if (base === mergee) return
  const { state } = desk
  for (const row of mergee.contactInboxes) {
    row.contact = base
    base.contactInboxes.push(row)
    for (const conversation of row.conversations) conversation.contact = base
  }
  for (const message of state.messages.all()) {
    if (message.sender?.type !== 'Contact' || message.sender.contact !== mergee) continue
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
  base.additionalAttributes = { ...mergee.additionalAttributes, ...base.additionalAttributes }
  base.customAttributes = { ...mergee.customAttributes, ...base.customAttributes }
  state.indexContact(base)
  touchContact(desk, base)
  desk.emit({ event: 'contact_updated', contact: base })
}

// Describes the contact of a chat for the helpdesk: its source id, its identifier, and every spelling of either.

import { groupJid, lidJid, parseChat, personJid, phoneJid } from '../../core/address.ts'
import type { Chat } from '../../core/address.ts'
import type { ContactSpec } from '../../core/helpdesk/contact.ts'
import { phoneVariants } from '../../core/phone-variants.ts'
import type { PersonRecord } from '../../storage/stores/people/people-store.ts'
import { contactName, strangerOf } from '../people/names.ts'

export function lidSourceId(lid: string): string {
  return `lid-${lid}`
}

function groupSourceId(groupId: string): string {
  return `group-${groupId}`
}

/** The chat of a contact by its source id; undefined when the source id is not one of ours. */
export function chatOfSourceId(sourceId: string): Chat | undefined {
  const [, kind, id = ''] = /^(lid-|group-)?(.*)$/.exec(sourceId) ?? []
  if (kind === 'group-') return parseChat(groupJid(id))
  return parseChat(kind === 'lid-' ? lidJid(id) : phoneJid(id))
}

export function personSpec(person: PersonRecord): ContactSpec {
  const { phone, lid, formerPhones } = person
  const name = contactName({ ...strangerOf(person), pushName: person.pushName, savedName: person.savedName })
  if (phone === null) return lidSpec(lid ?? '', name)
  const phones = phoneVariants(phone)
  return {
    sourceId: phone,
    formerSourceIds: [...phones.slice(1), ...(lid === null ? [] : [lidSourceId(lid)]), ...formerPhones],
    identifier: personJid(person),
    identifiers: [...phones.map(phoneJid), ...(lid === null ? [] : [lidJid(lid)])],
    phone: `+${phone}`,
    phones: phones.map((each) => `+${each}`),
    name,
  }
}

export function lidSpec(lid: string, name: string): ContactSpec {
  return specWithoutPhone(lidSourceId(lid), lidJid(lid), name)
}

export function groupSpec(groupId: string, name: string): ContactSpec {
  return specWithoutPhone(groupSourceId(groupId), groupJid(groupId), name)
}

function specWithoutPhone(sourceId: string, identifier: string, name: string): ContactSpec {
  return { sourceId, formerSourceIds: [], identifier, identifiers: [identifier], phone: null, phones: [], name }
}

// Addresses on the network: people by phone and by anonymous id (LID), groups by their id; digits only, no device part.

import type { ChatId, Jid } from './ids.ts'

export const phoneDomain = 's.whatsapp.net'
export const lidDomain = 'lid'
const groupDomain = 'g.us'

/** One person; at least one of both is known. The phone is E.164 without the plus. */
export type Person = { phone: string | null; lid: string | null }

export type Chat = ({ kind: 'person' } & Person) | { kind: 'group'; id: string }

const jidPattern = /^(\d{1,20}(?:-\d{1,20})?)(?:[:_]\d{1,3}){0,2}@(s\.whatsapp\.net|c\.us|lid|g\.us)$/

/** Undefined for an address of neither a person nor a group: status, newsletters, broadcast lists, junk. */
export function parseChat(jid: Jid): Chat | undefined {
  const [, user, domain] = jidPattern.exec(jid) ?? []
  if (user === undefined) return undefined
  if (domain === groupDomain) return { kind: 'group', id: user }
  if (user.includes('-')) return undefined
  return domain === lidDomain ? { kind: 'person', phone: null, lid: user } : { kind: 'person', phone: user, lid: null }
}

export function phoneJid(phone: string): Jid {
  return `${phone}@${phoneDomain}`
}

export function lidJid(lid: string): Jid {
  return `${lid}@${lidDomain}`
}

export function groupJid(id: string): Jid {
  return `${id}@${groupDomain}`
}

/** Our key of the chat of a group. */
export function groupChatId(id: string): ChatId {
  return `${id}@${groupDomain}`
}

export function isGroupChat(chatId: ChatId): boolean {
  return chatId.endsWith(`@${groupDomain}`)
}

/** The address of a person: the phone when it is known, else the anonymous id. */
export function personJid({ phone, lid }: Person): Jid {
  return phone === null ? lidJid(lid ?? '') : phoneJid(phone)
}

export function chatJid(chat: Chat): Jid {
  return chat.kind === 'group' ? groupJid(chat.id) : personJid(chat)
}

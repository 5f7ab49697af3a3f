// Finds the members of a group that an agent mentions: the `@phone` of a member becomes a mention.

import type { Person } from '../../../core/address.ts'

const named = /(?<![\p{L}\p{N}])@\+?(\d{7,15})(?!\d)/gu

export function mayMention(text: string): boolean {
  return text.search(named) >= 0
}

/** WhatsApp finds a mention by the digits in the text, so the plus is left out. */
export function mentionMembers(
  text: string,
  members: ReadonlyMap<string, Person>,
): { text: string; mentions: Person[] } {
  const mentions = new Map<string, Person>()
  const shown = text.replace(named, (whole, phone: string) => {
    const member = members.get(phone)
    if (!member) return whole
    mentions.set(phone, member)
    return `@${phone}`
  })
  return { text: shown, mentions: [...mentions.values()] }
}

// Finds the addresses under which the phone may keep a chat.

import type { People } from '../../bridge/people/people.ts'
import { groupChatId, groupJid, lidJid, phoneJid } from '../../core/address.ts'
import type { Chat, Person } from '../../core/address.ts'
import type { ChatId, InstanceName, Jid } from '../../core/ids.ts'
import { phoneVariants } from '../../core/phone-variants.ts'

/** `chatId` is null for a person who has no record. `formerJids`: another person may have such a number now. */
export type ChatAddresses = { chatId: ChatId | null; jids: readonly Jid[]; formerJids: readonly Jid[] }

type Deps = { people: Pick<People, 'lookUp'> }

/**
 * One chat, or each spelling of the number of an unknown person as a chat of its own. Stores nothing, so that a request about an
 * unknown person leaves nothing behind.
 */
export async function findChatAddresses(deps: Deps, instance: InstanceName, chat: Chat): Promise<ChatAddresses[]> {
  if (chat.kind === 'group') return [{ chatId: groupChatId(chat.id), jids: [groupJid(chat.id)], formerJids: [] }]
  const spellings = spellingsOf(chat)
  for (const spelling of spellings) {
    const record = await deps.people.lookUp(instance, spelling)
    if (!record) continue
    return [{ chatId: record.id, jids: jidsOf(record), formerJids: record.formerPhones.map(phoneJid) }]
  }
  return spellings.map((spelling) => ({ chatId: null, jids: jidsOf(spelling), formerJids: [] }))
}

function spellingsOf({ phone, lid }: Person): Person[] {
  return phone === null ? [{ phone, lid }] : phoneVariants(phone).map((spelling) => ({ phone: spelling, lid }))
}

function jidsOf({ phone, lid }: Person): Jid[] {
  return [...(phone === null ? [] : [phoneJid(phone)]), ...(lid === null ? [] : [lidJid(lid)])]
}

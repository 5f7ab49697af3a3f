// Many people who write numbered messages, and whether the helpdesk has each of them once and in order.

import assert from 'node:assert/strict'
import type { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import type { SimPerson } from '../../sim/network/people/sim-person.ts'
import type { SimNetwork } from '../../sim/network/sim-network.ts'

export function people({ network }: { network: SimNetwork }, count: number): SimPerson[] {
  return Array.from({ length: count }, (_, index) =>
    network.person({ phone: `55119800${String(1000 + index)}`, pushName: `P${index}` }),
  )
}

/** What each conversation holds of them. */
export function textsByConversation({ helpdesk }: { helpdesk: SimHelpdesk }): string[][] {
  const found = new Map<number, string[]>()
  for (const { conversationId, content, messageType } of helpdesk.messages()) {
    if (messageType !== 'incoming') continue
    found.set(conversationId, [...(found.get(conversationId) ?? []), content ?? ''])
  }
  return [...found.values()]
}

/** Every text ("name 0", "name 1", …) once, in order per chat, one conversation per chat. */
export function assertOnceInOrder(world: { helpdesk: SimHelpdesk }, chats: number, perChat: number): void {
  const conversations = textsByConversation(world)
  assert.equal(world.helpdesk.see.conversations().length, chats, 'one conversation per chat')
  const wantedOf = ([first = '']: string[]) =>
    Array.from({ length: perChat }, (_, index) => `${first.split(' ')[0]} ${index}`)
  for (const texts of conversations)
    assert.deepEqual(texts.toSorted(), wantedOf(texts).toSorted(), 'every message once')
  for (const texts of conversations) assert.deepEqual(texts, wantedOf(texts), 'in the order they were sent')
  assert.equal(conversations.length, chats)
}

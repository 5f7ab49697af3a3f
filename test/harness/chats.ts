// Many people who write numbered messages, and whether the helpdesk has each of them once and in order.

import assert from 'node:assert/strict'
import type { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import type { SimPerson } from '../../sim/network/people/sim-person.ts'
import type { SimNetwork } from '../../sim/network/sim-network.ts'
import { mistakesIn, noMistakes } from './truth.ts'
import type { Mistakes } from './truth.ts'

type Desk = { helpdesk: SimHelpdesk }

export function people({ network }: { network: SimNetwork }, count: number): SimPerson[] {
  return Array.from({ length: count }, (_, index) =>
    network.person({ phone: `55119800${String(1000 + index)}`, pushName: `P${index}` }),
  )
}

/** What each conversation holds of them. */
export function textsByConversation({ helpdesk }: Desk): string[][] {
  const received = helpdesk.messages().filter(({ messageType }) => messageType === 'incoming')
  const byConversation = Map.groupBy(received, ({ conversationId }) => conversationId)
  return [...byConversation.values()].map((messages) => messages.map(({ content }) => content ?? ''))
}

/** Compares what the helpdesk has with the texts that were written ("name 0", "name 1", …), chat by chat. */
export function mistakesAtHelpdesk(world: Desk, perChat: number): Mistakes {
  const failed = new Set(
    world.helpdesk.messages().flatMap(({ status, content }) => (status === 'failed' ? content : [])),
  )
  const chats = textsByConversation(world).map((received) => {
    const name = received[0]?.split(' ')[0] ?? ''
    const texts = Array.from({ length: perChat }, (_, index) => `${name} ${index}`)
    return { written: texts.map((id) => ({ id, isFailed: failed.has(id) })), received }
  })
  return mistakesIn(chats)
}

/** Every text once, in order per chat, one conversation per chat. */
export function assertOnceInOrder(world: Desk, chats: number, perChat: number): void {
  assert.equal(world.helpdesk.see.conversations().length, chats, 'one conversation per chat')
  assert.equal(textsByConversation(world).length, chats, 'each chat has messages')
  assert.deepEqual(mistakesAtHelpdesk(world, perChat), noMistakes)
}

// Finds the message that a receipt is about among the rows of the message map with its network id.

import { groupChatId, groupIdOf } from '../../../core/address.ts'
import type { Chat } from '../../../core/address.ts'
import type { ChatId } from '../../../core/ids.ts'
import type { Tick } from '../../../core/tick.ts'
import type { ReceiptTarget } from '../../../storage/stores/messages/tick-store.ts'

export type Match =
  | { kind: 'message'; row: ReceiptTarget }
  /** Something that shows no status: a reaction, or a notice about a message. */
  | { kind: 'filtered' }
  /** The message is sent, and the helpdesk does not have it yet. */
  | { kind: 'unposted'; rows: readonly ReceiptTarget[] }
  /** Nothing is stored yet. */
  | { kind: 'unmapped' }

type Sought = { chat: Chat; effect: Tick | 'seen' }

/**
 * The id decides, not the address: a receipt may come from the LID of a person whose message went to the phone number. Only
 * where several chats have a message with this id, `chatOf` says which of them is meant.
 */
export async function matchReceipt(
  { chat, effect }: Sought,
  rows: readonly ReceiptTarget[],
  chatOf: () => Promise<ChatId | undefined>,
): Promise<Match> {
  const isOfOwner = ({ direction }: ReceiptTarget) => direction !== 'in'
  const sought = rows.filter((row) => isOfOwner(row) === (effect !== 'seen') && isSameKind(row.chat, chat))
  const isDoubtful = new Set(sought.map((row) => row.chat)).size > 1
  const meant = isDoubtful ? await chatOf() : undefined
  const found = isDoubtful ? sought.filter((row) => row.chat === meant) : sought
  if (found.length === 0) return { kind: 'unmapped' }
  const messages = found.filter(({ kind }) => kind === 'message')
  const posted = messages.find(({ messageId }) => messageId !== null)
  if (posted) return { kind: 'message', row: posted }
  if (messages.length === 0) return { kind: 'filtered' }
  return effect === 'seen' ? { kind: 'unmapped' } : { kind: 'unposted', rows: messages }
}

function isSameKind(chatId: ChatId, chat: Chat): boolean {
  if (chat.kind === 'group') return chatId === groupChatId(chat.id)
  return groupIdOf(chatId) === null
}

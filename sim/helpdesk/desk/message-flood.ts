// The flood limit: the model refuses to save when a conversation has too many rows of the last minute.

import type { ConversationRow } from '../state/rows.ts'
import type { Desk } from './desk.ts'

export function isFlooded(desk: Desk, { messages }: ConversationRow): boolean {
  if (!desk.features.floodLimit || messages.length < desk.settings.messagesPerMinute) return false
  const since = desk.clock.now() - 60_000
  let count = 0
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]
    if (!message || message.insertedAt < since) break
    // Backdated rows do not count.
    if (message.createdAt >= since) count++
    if (count >= desk.settings.messagesPerMinute) return true
  }
  return false
}

// Decides which messages a phone sends to a new companion, in which pieces and in which order.
//
// First comes the bootstrap with the last messages of every chat. The recent history follows, newest first, and begins with
// the messages of the bootstrap again. A companion that asked for it then gets the full history: everything older.
import { timeOf, type ArchivedChat, type ChatArchive } from './chat-archive.ts'
import type { ArchivedMessage } from './archived-message.ts'
import type { HistoryWish } from './history-wish.ts'

export type HistoryLimits = {
  /** Messages per chat in the bootstrap, and in the recent history. */
  bootstrapPerChat: number
  recentPerChat: number
  /** How far the recent and the full history reach back when the companion names no number of days. */
  recentDays: number
  fullDays: number
  /** Messages in one piece of the recent or the full history. */
  chunkMessages: number
}
/** The messages of one piece, newest first. */
export type Portion = Map<ArchivedChat, ArchivedMessage[]>
export type HistoryPlan = { bootstrap: Portion; recent: Portion[]; full: Portion[] }
type Placed = { chat: ArchivedChat; message: ArchivedMessage }

const DAY_S = 24 * 60 * 60

/** `now` is in unix seconds. */
export function planHistory(archive: ChatArchive, limits: HistoryLimits, wish: HistoryWish, now: number): HistoryPlan {
  const recentFrom = now - (wish.recentDays ?? limits.recentDays) * DAY_S
  const fullFrom = now - (wish.days ?? limits.fullDays) * DAY_S
  const bootstrap: Portion = new Map()
  const recent: Placed[] = []
  const full: Placed[] = []
  for (const chat of archive.chats()) {
    const newestFirst = archive.oldestFirst(chat).toReversed()
    bootstrap.set(chat, newestFirst.slice(0, limits.bootstrapPerChat))
    for (const [index, message] of newestFirst.entries()) {
      const isNear = index < limits.recentPerChat && timeOf(message) >= recentFrom
      if (isNear || index < limits.bootstrapPerChat) recent.push({ chat, message })
      else if (wish.isFull && timeOf(message) >= fullFrom) full.push({ chat, message })
    }
  }
  return { bootstrap, recent: portions(recent, limits), full: portions(full, limits) }
}

function portions(placed: Placed[], { chunkMessages }: HistoryLimits): Portion[] {
  placed.sort(({ message: one }, { message: two }) => timeOf(two) - timeOf(one) || two.order - one.order)
  const made: Portion[] = []
  for (let start = 0; start < placed.length; start += chunkMessages) {
    const portion: Portion = new Map()
    for (const { chat, message } of placed.slice(start, start + chunkMessages)) {
      const messages = portion.get(chat) ?? []
      messages.push(message)
      portion.set(chat, messages)
    }
    made.push(portion)
  }
  return made
}

// The jobs that import history: what they are asked for, what they tell while they run, and what became of them.

import type { Jid } from '../ids.ts'

/**
 * history_all      import every chat of an instance, on request
 * history_chat     import one chat, on request
 * history_pairing  import what the phone sent when the account was linked
 */
export const historyJobTypes = ['history_all', 'history_chat', 'history_pairing'] as const
export type HistoryJobType = (typeof historyJobTypes)[number]

/** Older messages are never imported. */
export const longestHistoryDays = 30

/** The nearest number of days that an import can have. */
export function clampHistoryDays(days: number): number {
  return Math.min(Math.max(days, 1), longestHistoryDays)
}

/** What an import is asked for. */
export type ImportParams = {
  /** The addresses of the one chat to import; null: all chats. */
  chat: readonly Jid[] | null
  /** How many older messages the phone is asked for, per chat. Null: the phone is not asked. */
  count: number | null
  /** How long the phone may take to answer, per chat. */
  timeoutMs: number
  days: number
  /** Files of messages of the last days are fetched. 0: none. */
  mediaDays: number
}

/** `done` and `total` count chats. The other numbers count messages. */
export type ImportProgress = {
  done: number
  total: number
  seen: number
  kept: number
  posted: number
  /** At the helpdesk already. */
  skipped: number
  errors: number
  /** When the import will probably end; null when that is not known. */
  estimatedEndAt: number | null
}

/** What became of the chats; `posted` counts messages. scanned = imported + skipped + noAnchor + errors. */
export type ImportResult = {
  chats: number
  scanned: number
  /** Chats of which at least one message was posted. */
  imported: number
  /** Chats without a new message. */
  skipped: number
  noAnchor: number
  errors: number
  posted: number
  messagesSeen: number
  messagesKept: number
  messagesSkipped: number
  messageErrors: number
  /** Epoch milliseconds of the oldest and the newest kept message; null when there is none. */
  oldestAt: number | null
  newestAt: number | null
}

/** The progress of an import that has not begun. */
export const noImportProgress: ImportProgress = {
  done: 0,
  total: 0,
  seen: 0,
  kept: 0,
  posted: 0,
  skipped: 0,
  errors: 0,
  estimatedEndAt: null,
}

/** The parts of a job of this kind. */
export type HistoryJobKind = { params: ImportParams; progress: ImportProgress; result: ImportResult }

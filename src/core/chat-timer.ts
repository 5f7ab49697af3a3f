// The timer of disappearing messages in a chat: after how many seconds they disappear, and when that was set.

/** Who set the timer: one of the two in the chat, or the account or the other person as their default for new chats. */
export type TimerOrigin = 'chat' | 'me' | 'other'

export type Timer = {
  /** Zero when messages stay. */
  seconds: number
  /** When it was set, in unix seconds. Zero when the message does not say. */
  setAt: number
  /** When the message that told it was sent, in unix seconds. */
  toldAt: number
  by: TimerOrigin
}

/** A timer that a message tells. `isSetting` when the message exists to set it. */
export type ToldTimer = Timer & { isSetting: boolean }

/** Clients offer 24 hours, 7 days and 90 days. No client accepts more than a year. */
const longestSeconds = 366 * 86_400

/** Undefined for a number that no client accepts. */
export function timerSeconds(expiration: number | null | undefined): number | undefined {
  const seconds = expiration ?? 0
  return Number.isSafeInteger(seconds) && seconds >= 0 && seconds <= longestSeconds ? seconds : undefined
}

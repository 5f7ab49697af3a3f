// Recognises the same message twice in a row to the same chat. Case, spaces and formatting marks do not count.

export const spamguardWindowMs = 30_000
export const spamguardMinChars = 10

export function normaliseForSpamguard(text: string): string {
  return text
    .replace(/[*_~`]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase()
}

/** Whether the message before was so recent that a repetition counts. `at` is the time of that message. */
export function isWithinWindow(at: number, now: number): boolean {
  // A time in the future was stored before the clock was put back.
  return Math.abs(now - at) < spamguardWindowMs
}

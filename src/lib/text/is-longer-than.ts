// Says whether a text has more characters than a limit.

/** Counts characters, not UTF-16 units. A character has at most two units, so most texts need not be counted. */
export function isLongerThan(limit: number, text: string): boolean {
  if (text.length <= limit) return false
  return text.length > 2 * limit || Array.from(text).length > limit
}

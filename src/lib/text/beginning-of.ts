// Returns the beginning of a text. It never ends in the middle of a character.

/** At most `length` UTF-16 units. */
export function beginningOf(text: string, length: number): string {
  if (text.length <= length) return text
  const cut = text.slice(0, Math.max(0, length))
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut
}

// Hides phone numbers in texts that leave the service for the eyes of others, such as a support bundle.

/** Seven digits in a row, or a number with a plus and the usual separators. The number of a chat is longer. */
const numberForm = /\+\d(?:[ ().-]{0,2}\d){6,}|\d{7,}/g

/** Of each number only the last two digits are left, so that two lines about one person can still be compared. */
export function maskNumbers(text: string): string {
  return text.replace(numberForm, (number) => `…${number.slice(-2)}`)
}

/** The same for every text in a JSON value, the names of fields included. Values that are numbers stay. */
export function maskAllNumbers(value: unknown): unknown {
  if (typeof value === 'string') return maskNumbers(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(maskAllNumbers)
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [maskNumbers(name), maskAllNumbers(inner)]))
}

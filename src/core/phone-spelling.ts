// Reads phone numbers as callers write them.

const spelling = /^\+?[\d\s().\-/]{5,40}$/
/** No country code begins with 0. */
const international = /^[1-9]\d{4,14}$/

/** The digits of a number with its country code; undefined for anything else. */
export function readPhone(text: string): string | undefined {
  if (!spelling.test(text.trim())) return undefined
  const digits = text.replaceAll(/\D/g, '')
  // Many countries dial 00 for the plus.
  const phone = text.includes('+') ? digits : digits.replace(/^00/, '')
  return international.test(phone) ? phone : undefined
}

// Reads a phone number that a caller writes in any usual spelling.

const phoneSpelling = /^\+?[\d\s().\-/]{5,40}$/
/** No country code begins with 0. */
const internationalPhone = /^[1-9]\d{4,14}$/

/** E.164 without the plus; undefined for a text that is no phone number with its country code. */
export function readPhone(text: string): string | undefined {
  if (!phoneSpelling.test(text.trim())) return undefined
  const digits = text.replaceAll(/\D/g, '')
  // Many countries dial 00 for the plus.
  const phone = text.includes('+') ? digits : digits.replace(/^00/, '')
  return internationalPhone.test(phone) ? phone : undefined
}

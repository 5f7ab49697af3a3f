// Finds the spellings of one mobile number: some countries changed theirs, and both spellings are still in use.

/**
 * All spellings under which this number may be known, itself first; E.164 without the plus. Numbers that are no mobile
 * numbers by their country's own plan have only one.
 */
export function phoneVariants(phone: string): string[] {
  const other = otherSpelling(phone)
  return other === undefined ? [phone] : [phone, other]
}

type Rule = { long: RegExp; short: RegExp; shorten: string; lengthen: string }

const rules: readonly Rule[] = [
  // Brazil: mobile numbers got a 9 in front; landlines begin with 2 to 5 and never have it.
  { long: /^55(\d{2})9([6-9]\d{7})$/, short: /^55(\d{2})([6-9]\d{7})$/, shorten: '55$1$2', lengthen: '55$19$2' },
  // Mexico: a 1 stood between country and number of mobiles until 2019. Landlines have ten digits too: only WhatsApp's
  // own spelling with the 1 says mobile, so the short one may be looked up under the long one, never rewritten.
  { long: /^521(\d{10})$/, short: /^52([2-9]\d{9})$/, shorten: '52$1', lengthen: '521$1' },
  // Argentina: from abroad mobiles are dialled with a 9 after the country.
  { long: /^549([1-9]\d{9})$/, short: /^54([1-9]\d{9})$/, shorten: '54$1', lengthen: '549$1' },
]

function otherSpelling(phone: string): string | undefined {
  for (const { long, short, shorten, lengthen } of rules) {
    if (long.test(phone)) return phone.replace(long, shorten)
    if (short.test(phone)) return phone.replace(short, lengthen)
  }
  return undefined
}

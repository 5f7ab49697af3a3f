// Mentions inside of a text: the network writes them as @ and digits, people want to read names.

import type { KnownPerson } from '../../people/names.ts'
import { mentionName } from '../../people/names.ts'

/** Only whole tokens: an id that is the beginning of a longer one is another one. */
const token = /(?<![\p{L}\p{N}])@(\d{5,20})(?![\p{L}\p{N}])/gu

export function nameMentions(text: string, mentioned: readonly KnownPerson[], template: string): string {
  if (mentioned.length === 0) return text
  const names = new Map<string, string>()
  for (const person of mentioned) {
    const shown = template.replace(/\$name/g, () => mentionName(person))
    for (const digits of [person.phone, person.lid]) if (digits !== null) names.set(digits, shown)
  }
  return text.replace(token, (whole, digits: string) => names.get(digits) ?? whole)
}

// Replaces the mentions in a text by names: the network writes a mention as @ and digits.

import type { KnownPerson } from '../../people/names.ts'
import { mentionName } from '../../people/names.ts'

/** Whole tokens only: the beginning of a longer number is another id. */
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

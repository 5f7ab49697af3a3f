// Says which names stand for the mentions in a text: the network writes a mention as @ and digits.

import type { KnownPerson } from '../../people/names.ts'
import { mentionName } from '../../people/names.ts'
import { escapeName } from './markdown/escape-all.ts'
import type { MentionOf } from './markdown/spans.ts'

export function mentionsOf(mentioned: readonly KnownPerson[], template: string): MentionOf {
  const names = new Map<string, string>()
  for (const person of mentioned) {
    const shown = template.replace(/\$name/g, () => escapeName(mentionName(person)))
    for (const digits of [person.phone, person.lid]) if (digits !== null) names.set(digits, shown)
  }
  return (digits) => names.get(digits)
}

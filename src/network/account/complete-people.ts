// Completes people: adds the LID to a phone, or the phone to a LID, if the account has learnt the pair.

import type { Person } from '../../core/address.ts'

type Lookup = (kind: string, ids: readonly string[]) => Promise<Record<string, unknown>>

export async function completePeople(people: readonly Person[], lookup: Lookup): Promise<void> {
  const incomplete = people.filter(({ phone, lid }) => phone === null || lid === null)
  const keys = [...new Set(incomplete.flatMap((person) => keyOf(person) ?? []))]
  if (keys.length === 0) return
  const found = await lookup('lid-mapping', keys)
  for (const person of incomplete) {
    const other = found[keyOf(person) ?? '']
    if (typeof other !== 'string') continue
    if (person.phone === null) person.phone = other
    else person.lid = other
  }
}

/** The key under which the library stores the pair. */
function keyOf({ phone, lid }: Person): string | undefined {
  if (phone !== null) return phone
  return lid === null ? undefined : `${lid}_reverse`
}

// Adds to the people an event names the other half of their addresses, where the account has learnt it.

import type { Person } from '../../core/address.ts'
import type { NetworkEvent } from '../../core/message.ts'
import { peopleIn } from './event.ts'

type Lookup = (kind: string, ids: readonly string[]) => Promise<Record<string, unknown>>

export async function completePeople(events: readonly NetworkEvent[], lookup: Lookup): Promise<void> {
  const incomplete = events.flatMap(peopleIn).filter(({ phone, lid }) => phone === null || lid === null)
  const names = [...new Set(incomplete.flatMap((person) => nameOf(person) ?? []))]
  if (names.length === 0) return
  const found = await lookup('lid-mapping', names)
  for (const person of incomplete) {
    const other = found[nameOf(person) ?? '']
    if (typeof other !== 'string') continue
    if (person.phone === null) person.phone = other
    else person.lid = other
  }
}

/** Under which the library keeps the pair. */
function nameOf({ phone, lid }: Person): string | undefined {
  if (phone !== null) return phone
  return lid === null ? undefined : `${lid}_reverse`
}

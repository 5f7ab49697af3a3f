// Chooses the name of a contact among the names that its person has.

import { pushNameOf, savedNameOf } from '../../people/names.ts'
import type { PersonalNames } from '../../people/names.ts'

/**
 * A name of an address book comes before a name that the person chose. Accounts that share a helpdesk inbox may know different
 * names of one person. Among their address books, the name that the contact has already stays. Null when no name is known.
 */
export function bestName(own: PersonalNames, others: readonly PersonalNames[], current: string): string | null {
  const people = [own, ...others]
  const saved = people.flatMap((each) => savedNameOf(each) ?? [])
  if (saved.length > 0) return saved.find((each) => each === current) ?? saved[0] ?? null
  return people.flatMap((each) => pushNameOf(each) ?? [])[0] ?? null
}

// Compares the record of a person with what a message or the network tells of the person.

import type { Person } from '../../core/address.ts'
import type { PersonChanges, PersonRecord } from '../../storage/stores/people/people-store.ts'

/** Whether the record has this phone number now, or this anonymous id. */
export function isHolder(record: PersonRecord, { phone, lid }: Person): boolean {
  return (phone !== null && record.phone === phone) || (lid !== null && record.lid === lid)
}

/** The former numbers of these records and the replaced one, without the number that the person has now. */
export function formerPhones(
  current: string | null,
  replaced: string | null,
  ...records: readonly PersonRecord[]
): string[] {
  const all = [...records.flatMap((record) => record.formerPhones), ...(replaced === null ? [] : [replaced])]
  return [...new Set(all)].filter((phone) => phone !== current)
}

export function tellsNothingNew(known: PersonRecord, { phone, lid }: Person, pushName: string | null): boolean {
  return (
    (phone === null || phone === known.phone) &&
    (lid === null || lid === known.lid) &&
    (pushName === null || pushName === known.pushName)
  )
}

export function news(known: PersonRecord, { phone, lid }: Person, pushName: string | null): PersonChanges {
  return {
    ...(phone !== null && phone !== known.phone && { phone }),
    ...(lid !== null && lid !== known.lid && { lid }),
    ...(pushName !== null && pushName !== known.pushName && { pushName }),
  }
}

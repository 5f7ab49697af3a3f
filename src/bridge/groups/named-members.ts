// Adds what the service knows of people to the members of a group.

import { contactName } from '../people/names.ts'
import type { KnownPerson } from '../people/names.ts'
import type { People } from '../people/people.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { GroupMember } from '../../core/group-administration.ts'

export type NamedMember = KnownPerson & Pick<GroupMember, 'role'>

/** In the order of the members. Storage is asked once for all of them. */
export async function nameMembers(
  people: Pick<People, 'lookUpAll'>,
  instance: InstanceName,
  members: readonly GroupMember[],
): Promise<NamedMember[]> {
  const recordOf = await people.lookUpAll(instance, members)
  return members.map((member) => {
    const record = recordOf(member)
    return {
      phone: member.phone ?? record?.phone ?? null,
      lid: member.lid ?? record?.lid ?? null,
      savedName: record?.savedName ?? null,
      pushName: record?.pushName ?? member.name,
      redactedPhone: member.redactedPhone,
      role: member.role,
    }
  })
}

/** The saved name, else the name that the person chose; null when neither is known. */
export function nameOf({ savedName, pushName }: NamedMember): string | null {
  const name = contactName({ savedName, pushName, phone: null, lid: null, redactedPhone: null })
  return name === '' ? null : name
}

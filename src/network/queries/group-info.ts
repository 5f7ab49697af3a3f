// Asks the server about a group. The library's own query drops the redacted phone of members whose number is hidden.

import { groupJid } from '../../core/address.ts'
import type { GroupMember } from '../../core/group-administration.ts'
import type { GroupInfo } from '../../core/network.ts'
import { cleanName } from '../decode/clean.ts'
import { personOf } from '../decode/origin.ts'
import type { Jid } from '../../core/ids.ts'
import type { BinaryNode } from '../library/library.ts'
import { childOf, childrenOf } from '../library/nodes.ts'

type AskGroup = (to: Jid, content: BinaryNode) => Promise<BinaryNode>

const roles = new Map<string | undefined, GroupMember['role']>([
  ['admin', 'admin'],
  ['superadmin', 'superadmin'],
])

export async function askGroupInfo(groupId: string, ask: AskGroup): Promise<GroupInfo> {
  const answer = await ask(groupJid(groupId), { tag: 'query', attrs: { request: 'interactive' } })
  const refusal = childOf(answer, 'error')
  if (refusal) throw new Error(`the network does not tell about this group: code ${refusal.attrs['code'] ?? 'unknown'}`)
  const group = childOf(answer, 'group')
  if (!group) throw new Error('the answer of the network names no group')
  const members = childrenOf(group, 'participant').flatMap((node) => memberOf(node) ?? [])
  return { id: groupId, subject: cleanName(group.attrs['subject'] ?? ''), members }
}

export function memberOf({ attrs }: BinaryNode): GroupMember | undefined {
  const person = personOf(attrs['jid'], attrs['phone_number'], attrs['lid'])
  if (!person) return undefined
  const shown = attrs['display_name'] === undefined ? null : cleanName(attrs['display_name'])
  // If the phone is known, the display name is a name. Otherwise it is the phone with most digits hidden.
  const isPhone = person.phone === null && shown !== null && /^\+?[\d\s∙•·*.()-]+$/.test(shown)
  const name = isPhone ? null : shown
  return { ...person, name, redactedPhone: isPhone ? shown : null, role: roles.get(attrs['type']) ?? 'member' }
}

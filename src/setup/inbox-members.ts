// Adds agents as members of a helpdesk inbox: only members and administrators see its conversations.

import { BridgeError } from '../core/errors.ts'
import type { HelpdeskAccount } from '../core/helpdesk/helpdesk-account.ts'

export type MembersRequest = 'all' | 'none' | readonly number[]

const mostNamed = 10

/** Called before anything is changed. */
export async function refuseUnknownMembers(
  account: Pick<HelpdeskAccount, 'agentIds'>,
  members: MembersRequest | null,
): Promise<void> {
  if (members === null || typeof members === 'string') return
  const known = new Set(await account.agentIds())
  const unknown = members.filter((id) => !known.has(id))
  if (unknown.length === 0) return
  const named = unknown.slice(0, mostNamed).join(', ')
  throw new BridgeError('SERVICE_BAD_REQUEST', `members: the account of the helpdesk has no agent with the id ${named}`)
}

/** Members who are there already stay. Returns how many there are now. */
export async function addMembers(account: HelpdeskAccount, inboxId: number, members: MembersRequest): Promise<number> {
  if (members !== 'none') await account.addMembers(inboxId, members === 'all' ? await account.agentIds() : members)
  return (await account.memberIds(inboxId)).length
}

// The requests of people to join a group: reads and decides them.

import type { JoinRequest, MemberResult } from '../../core/group-administration.ts'
import type { Jid } from '../../core/ids.ts'
import { personOf } from '../decode/origin.ts'
import type { BinaryNode } from '../library/library.ts'
import { childOf, childrenOf } from '../library/nodes.ts'
import type { GroupQueries } from './group-queries.ts'
import { unreadable } from './group-queries.ts'
import { memberResults, participants } from './member-results.ts'
import { timeIn } from './read-group.ts'

export async function askJoinRequests(queries: GroupQueries, groupId: string): Promise<JoinRequest[]> {
  const tag = 'membership_approval_requests'
  const list = childOf(await queries.ask(groupId, 'admin_read', { tag, attrs: {} }), tag)
  if (!list) throw unreadable('requests')
  return childrenOf(list, 'membership_approval_request').flatMap((node) => requestOf(node) ?? [])
}

export async function decideJoinRequests(
  change: (content: BinaryNode) => Promise<BinaryNode>,
  action: 'approve' | 'reject',
  addresses: readonly Jid[],
): Promise<MemberResult[]> {
  const tag = 'membership_requests_action'
  const decision = { tag: action, attrs: {}, content: participants(addresses) }
  const answer = childOf(await change({ tag, attrs: {}, content: [decision] }), tag)
  const decided = answer && childOf(answer, action)
  if (!decided) throw unreadable('requests')
  return memberResults(addresses, childrenOf(decided, 'participant'))
}

function requestOf({ attrs }: BinaryNode): JoinRequest | undefined {
  const person = personOf(attrs['jid'], attrs['phone_number'], attrs['lid'])
  return person && { person, requestedAt: timeIn(attrs['request_time']) }
}

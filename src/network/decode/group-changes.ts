// Reads what changed in a group from a notification.

import type { Person } from '../../core/address.ts'
import { timerSeconds } from '../../core/chat-timer.ts'
import type { GroupChange, GroupEvent } from '../../core/message.ts'
import type { BinaryNode } from '../library/library.ts'
import { childOf, childrenOf } from '../library/nodes.ts'
import { isSame, personOf } from './origin.ts'

type Reader = (node: BinaryNode, author: Person | undefined) => GroupChange

const readers: Record<string, Reader> = {
  subject: ({ attrs }) => ({ change: 'subject', subject: attrs['subject'] ?? '' }),
  description: (node) => ({ change: 'description', description: textIn(node, 'body') }),
  announcement: () => ({ change: 'announce', on: true }),
  not_announcement: () => ({ change: 'announce', on: false }),
  locked: () => ({ change: 'locked', on: true }),
  unlocked: () => ({ change: 'locked', on: false }),
  membership_approval_mode: (node) => ({
    change: 'approval',
    on: childrenOf(node, 'group_join').some(({ attrs }) => attrs['state'] === 'on'),
  }),
  ephemeral: ({ attrs }) => ({ change: 'ephemeral', seconds: timerSeconds(Number(attrs['expiration'])) ?? 0 }),
  not_ephemeral: () => ({ change: 'ephemeral', seconds: 0 }),
  add: (node, author) => {
    const people = peopleIn(node)
    const byThemselves = node.attrs['reason'] === 'invite' || isOnly(people, author)
    return { change: byThemselves ? 'join' : 'add', people }
  },
  remove: (node, author) => {
    const people = peopleIn(node)
    return { change: isOnly(people, author) ? 'leave' : 'remove', people }
  },
  leave: (node) => ({ change: 'leave', people: peopleIn(node) }),
  promote: (node) => ({ change: 'promote', people: peopleIn(node) }),
  demote: (node) => ({ change: 'demote', people: peopleIn(node) }),
  create: (node) => ({ change: 'created', name: subjectIn(node) }),
  invite: ({ attrs }) => ({ change: 'invite_link', name: attrs['code'] ?? '' }),
}

export function changesOf(stanza: BinaryNode, author: Person | undefined): GroupChange[] {
  if (stanza.attrs['type'] === 'picture') return [{ change: 'picture' }]
  return childrenOf(stanza).map((node) => readers[node.tag]?.(node, author) ?? { change: 'other', name: node.tag })
}

export function whoLeft({ changes }: GroupEvent): Person[] {
  return changes.flatMap((one) => (one.change === 'remove' || one.change === 'leave' ? one.people : []))
}

function peopleIn(node: BinaryNode): Person[] {
  return childrenOf(node, 'participant').flatMap(
    ({ attrs }) => personOf(attrs['jid'], attrs['phone_number'], attrs['lid']) ?? [],
  )
}

function isOnly([first, ...others]: readonly Person[], author: Person | undefined): boolean {
  return first !== undefined && others.length === 0 && author !== undefined && isSame(first, author)
}

function subjectIn(node: BinaryNode): string {
  return childOf(node, 'group')?.attrs['subject'] ?? node.attrs['subject'] ?? ''
}

function textIn(node: BinaryNode, tag: string): string {
  const content = childOf(node, tag)?.content
  if (typeof content === 'string') return content
  return content instanceof Uint8Array ? Buffer.from(content).toString() : ''
}

// Reads what the server tells about a group.

import { parseChat } from '../../core/address.ts'
import type { Person } from '../../core/address.ts'
import type { GroupDetails, GroupSummary } from '../../core/group-administration.ts'
import { cleanName, cleanText } from '../decode/clean.ts'
import { isSame, personOf } from '../decode/origin.ts'
import type { BinaryNode } from '../library/library.ts'
import { childOf, childrenOf } from '../library/nodes.ts'
import { memberOf } from '../queries/group-info.ts'
import { unreadable } from './group-queries.ts'

export function readGroup(answer: BinaryNode): GroupDetails {
  const group = groupIn(answer)
  const id = idOf(group)
  if (id === undefined) throw unreadable('group')
  const { attrs } = group
  const description = childOf(group, 'description')
  return {
    id,
    subject: cleanName(attrs['subject'] ?? ''),
    topic: description ? textOf(childOf(description, 'body')) : '',
    owner: personOf(attrs['creator'], attrs['creator_pn']) ?? null,
    createdAt: timeIn(attrs['creation']),
    isLocked: childOf(group, 'locked') !== undefined,
    isAnnounce: childOf(group, 'announcement') !== undefined,
    isEphemeral: childOf(group, 'ephemeral') !== undefined,
    members: presentMembers(group).flatMap((node) => memberOf(node) ?? []),
  }
}

/** The id of the present description. A new description must name it. */
export function topicIdIn(answer: BinaryNode): string | undefined {
  return childOf(groupIn(answer), 'description')?.attrs['id']
}

/** The answer of the server to each address of a new group. */
export function creationNodes(answer: BinaryNode): BinaryNode[] {
  return childrenOf(groupIn(answer), 'participant').filter(({ attrs }) => attrs['type'] !== 'superadmin')
}

/** A community itself has no messages, so it is left out. Its announcement group is a group like others. */
export function readGroups(answer: BinaryNode, own: Person): GroupSummary[] {
  const groups = childOf(answer, 'groups')
  if (!groups) throw unreadable('groups')
  return childrenOf(groups, 'group').flatMap((group) => summaryOf(group, own) ?? [])
}

function summaryOf(group: BinaryNode, own: Person): GroupSummary | undefined {
  const id = idOf(group)
  if (id === undefined || childOf(group, 'parent')) return undefined
  const nodes = presentMembers(group)
  const self = nodes.find(({ attrs }) => {
    const person = personOf(attrs['jid'], attrs['phone_number'], attrs['lid'])
    return person !== undefined && isSame(person, own)
  })
  const size = Number(group.attrs['size'])
  return {
    id,
    subject: cleanName(group.attrs['subject'] ?? ''),
    size: Number.isSafeInteger(size) && size > 0 ? size : nodes.length,
    role: (self && memberOf(self)?.role) ?? 'member',
  }
}

/** The answer to the creation of a group also lists the people who could not be added. */
function presentMembers(group: BinaryNode): BinaryNode[] {
  return childrenOf(group, 'participant').filter(({ attrs }) => attrs['error'] === undefined)
}

function groupIn(answer: BinaryNode): BinaryNode {
  const group = childOf(answer, 'group')
  if (!group) throw unreadable('group')
  return group
}

/** The server writes the id with or without the domain. */
function idOf({ attrs }: BinaryNode): string | undefined {
  const id = attrs['id'] ?? ''
  const chat = parseChat(id.includes('@') ? id : `${id}@g.us`)
  return chat?.kind === 'group' ? chat.id : undefined
}

/** Seconds in the answer become milliseconds. */
export function timeIn(seconds: string | undefined): number | null {
  const number = Number(seconds)
  return Number.isSafeInteger(number) && number > 0 ? number * 1000 : null
}

function textOf(node: BinaryNode | undefined): string {
  const content = node?.content
  if (typeof content === 'string') return cleanText(content)
  return content instanceof Uint8Array ? cleanText(Buffer.from(content).toString()) : ''
}

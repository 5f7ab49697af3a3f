// Says what became of every address of a change of members, in the caller's order.

import type { GroupInvitation, MemberResult } from '../../core/group-administration.ts'
import type { Jid } from '../../core/ids.ts'
import { addressOf } from '../decode/origin.ts'
import type { BinaryNode } from '../library/library.ts'
import { childOf } from '../library/nodes.ts'
import { timeIn } from './read-group.ts'

type Verdict = Omit<MemberResult, 'address'>

/** The server's answer did not say what became of the person. */
const unanswered: Verdict = { code: 'unanswered', invitation: null }

/**
 * `nodes` are those of the answer. The server may name a person by another address than the caller. It then adds the caller's
 * address, or keeps the caller's order.
 */
export function memberResults(addresses: readonly Jid[], nodes: readonly BinaryNode[]): MemberResult[] {
  const asked = new Set(addresses.map(addressOf))
  const found = new Map<Jid, Verdict>()
  const strangers: Verdict[] = []
  for (const node of nodes) {
    const names = namesIn(node).filter((name) => asked.has(name))
    for (const name of names) found.set(name, verdictOf(node))
    if (names.length === 0) strangers.push(verdictOf(node))
  }
  const missing = [...asked].filter((address) => !found.has(address))
  if (missing.length === strangers.length) {
    missing.forEach((address, index) => found.set(address, strangers[index] ?? unanswered))
  }
  return addresses.map((address) => ({ address, ...(found.get(addressOf(address)) ?? unanswered) }))
}

function namesIn({ attrs }: BinaryNode): Jid[] {
  return [attrs['jid'], attrs['phone_number'], attrs['lid']].flatMap((jid) => (jid ? addressOf(jid) : []))
}

function verdictOf(node: BinaryNode): Verdict {
  const code = node.attrs['error']
  if (code === undefined || code === '200') return { code: null, invitation: null }
  return { code, invitation: invitationIn(node) }
}

function invitationIn(node: BinaryNode): GroupInvitation | null {
  const { code, expiration } = childOf(node, 'add_request')?.attrs ?? {}
  const expiresAt = timeIn(expiration)
  return code === undefined || code === '' || expiresAt === null ? null : { code, expiresAt }
}

/** The addresses as a question to the server, each of them once. */
export function participants(addresses: readonly Jid[]): BinaryNode[] {
  return [...new Set(addresses.map(addressOf))].map((jid) => ({ tag: 'participant', attrs: { jid } }))
}

// Turns an error of the server about a group into a GroupError.

import { GroupError } from '../../core/group-administration.ts'
import type { GroupFailure } from '../../core/group-administration.ts'
import type { BinaryNode } from '../library/library.ts'
import { childOf } from '../library/nodes.ts'

/**
 * read        every member may read it
 * admin_read  only administrators may read it
 * change      changes a group
 * leave       every member may leave
 * create      makes a new group
 */
export type Purpose = 'read' | 'admin_read' | 'change' | 'leave' | 'create'

type Verdict = readonly [GroupFailure, string]
type Verdicts = readonly (readonly [number, Verdict])[]

const everywhere: Verdicts = [
  [400, ['refused', 'the network does not accept the request']],
  [406, ['refused', 'the network does not accept the value']],
  [429, ['refused', 'the network receives too many requests from the account; try again in a few minutes']],
]

const unknownGroup: Verdict = ['not_found', 'the network knows no such group']
const known: Verdicts = [
  ...everywhere,
  [404, unknownGroup],
  [409, ['refused', 'the group has changed meanwhile']],
  [410, unknownGroup],
  [419, ['refused', 'the group is full']],
]

const notMember: Verdict = ['not_found', 'the account is not a member of the group']
const forMembers = new Map<number, Verdict>([...known, [401, notMember], [403, notMember]])

const notAdmin: Verdict = ['refused', 'the account is not an administrator of the group']
const forAdmins = new Map<number, Verdict>([...known, [401, notAdmin], [403, notAdmin]])

const byPurpose: Record<Purpose, ReadonlyMap<number, Verdict>> = {
  read: forMembers,
  admin_read: forAdmins,
  change: forAdmins,
  leave: forMembers,
  create: new Map(everywhere),
}

/** Undefined when the answer is a result. */
export function refusalIn(answer: BinaryNode, purpose: Purpose): GroupError | undefined {
  if (answer.attrs['type'] !== 'error') return undefined
  return refusalOf(Number(childOf(answer, 'error')?.attrs['code']), purpose)
}

export function refusalOf(code: number, purpose: Purpose): GroupError {
  if (!Number.isSafeInteger(code)) return new GroupError('failed', 'the network answered with an error without a code')
  const verdict = byPurpose[purpose].get(code)
  if (verdict) return new GroupError(verdict[0], `${verdict[1]} (code ${code})`, { code })
  // A fault of the server does not say whether the change was made.
  const failure = code >= 500 ? 'failed' : 'refused'
  return new GroupError(failure, `the network refused the request (code ${code})`, { code })
}

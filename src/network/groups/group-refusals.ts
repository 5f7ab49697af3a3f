// Turns an error of the server about a group into a GroupError.

import { GroupError } from '../../core/group-administration.ts'
import type { GroupFailure } from '../../core/group-administration.ts'
import type { BinaryNode } from '../library/library.ts'
import { childOf } from '../library/nodes.ts'

/**
 * read        every member may read it
 * admin_read  only administrators may read it
 * change      everything that changes a group
 */
export type Purpose = 'read' | 'admin_read' | 'change'

type Verdict = readonly [GroupFailure, string]

const unknownGroup: Verdict = ['not_found', 'the network knows no such group']
const notMember: Verdict = ['not_found', 'the account is not a member of the group']
const notAdmin: Verdict = ['refused', 'the account is not an administrator of the group']
const notAllowed: Verdict = [
  'refused',
  'the account may not do this: it is not an administrator of the group, or not a member',
]

const everywhere = new Map<number, Verdict>([
  [400, ['refused', 'the network does not accept the request']],
  [404, unknownGroup],
  [406, ['refused', 'the network does not accept the value']],
  [409, ['refused', 'the group has changed meanwhile']],
  [410, unknownGroup],
  [419, ['refused', 'the group is full']],
  [429, ['refused', 'the network receives too many requests from the account; try again in a few minutes']],
])

const byPurpose: Record<Purpose, ReadonlyMap<number, Verdict>> = {
  read: new Map([
    [401, notMember],
    [403, notMember],
  ]),
  admin_read: new Map([
    [401, notAdmin],
    [403, notMember],
  ]),
  change: new Map([
    [401, notAdmin],
    [403, notAllowed],
  ]),
}

/** Undefined when the answer is a result. */
export function refusalIn(answer: BinaryNode, purpose: Purpose): GroupError | undefined {
  const error = answer.attrs['type'] === 'error' ? childOf(answer, 'error') : undefined
  if (!error) return answer.attrs['type'] === 'error' ? refusalOf(NaN, purpose) : undefined
  return refusalOf(Number(error.attrs['code']), purpose)
}

export function refusalOf(code: number, purpose: Purpose): GroupError {
  if (!Number.isSafeInteger(code)) return new GroupError('failed', 'the network answered with an error without a code')
  const verdict = byPurpose[purpose].get(code) ?? everywhere.get(code)
  if (verdict) return new GroupError(verdict[0], `${verdict[1]} (code ${code})`, { code })
  // A fault of the server does not say whether the change was made.
  const failure = code >= 500 ? 'failed' : 'refused'
  return new GroupError(failure, `the network refused the request (code ${code})`, { code })
}

// What became of each person in a change of a group's members.

import type { MemberResult } from '../../core/group-administration.ts'
import type { Jid } from '../../core/ids.ts'

/**
 * ok        the change was made
 * failed    the network refused it; `code` is the network's own code
 * invited   the person cannot be added and has got an invitation; `code` says why
 */
export type MemberOutcome = { address: Jid; status: 'ok' | 'failed' | 'invited'; code: string | null }

export function toOutcome({ address, code }: Pick<MemberResult, 'address' | 'code'>): MemberOutcome {
  return { address, status: code === null ? 'ok' : 'failed', code }
}

export function countOf(outcomes: readonly MemberOutcome[]): { ok: number; failed: number; invited: number } {
  const count = { ok: 0, failed: 0, invited: 0 }
  for (const { status } of outcomes) count[status]++
  return count
}

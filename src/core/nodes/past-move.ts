// A change of the node that holds an instance, as an operator reads it later.

import type { InstanceName } from '../ids.ts'

/** death: the node before died. hand_over: it gave the instance away. placed: no node held the instance. */
export const moveReasons = ['death', 'hand_over', 'placed'] as const
export type MoveReason = (typeof moveReasons)[number]

export type PastMove = {
  instance: InstanceName
  /** The name of the node before; null when no node held the instance. */
  from: string | null
  /** The name of the node after; null when no other node could take the instance. */
  to: string | null
  reason: MoveReason
  /** On the clock of the database. */
  at: number
}

export type PastMoves = {
  /** The last ones, newest first. */
  newest(limit: number): Promise<PastMove[]>
}

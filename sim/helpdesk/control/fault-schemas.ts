// The JSON of faults in the control interface.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import { defined } from '../../defined.ts'
import type { Fault } from '../faults/fault-plan.ts'
import { Attributes, exact, Id } from '../schemas/basics.ts'

const aim = {
  method: Type.Optional(Type.String()),
  path: Type.Optional(Type.String({ description: 'a regular expression' })),
  times: Type.Optional(Type.Integer({ minimum: 1 })),
  probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  strikes_agents: Type.Optional(Type.Boolean()),
}
const afterCommit = { after_commit: Type.Optional(Type.Boolean()) }
const Milliseconds = Type.Integer({ minimum: 0 })

const Kept = Type.Union([
  exact({ kind: Type.Literal('status'), status: Type.Integer({ minimum: 400, maximum: 599 }), ...afterCommit, ...aim }),
  exact({
    kind: Type.Literal('answer'),
    status: Type.Integer({ minimum: 200, maximum: 599 }),
    body: Attributes,
    ...aim,
  }),
  exact({
    kind: Type.Literal('timeout'),
    commit: Type.Union([Type.Literal('never'), Type.Literal('at_once'), Type.Literal('late')]),
    commit_ms: Type.Optional(Type.Tuple([Milliseconds, Milliseconds])),
    ...aim,
  }),
  exact({ kind: Type.Literal('slow'), ms: Milliseconds, ...aim }),
  exact({ kind: Type.Literal('cut'), ...afterCommit, ...aim }),
  exact({ kind: Type.Literal('wrong_token'), ...aim }),
  exact({ kind: Type.Literal('not_in_account'), ...aim }),
  exact({ kind: Type.Literal('account_suspended'), ...aim }),
  exact({ kind: Type.Literal('inbox_deleted'), inbox_id: Id }),
  exact({ kind: Type.Literal('refused') }),
])
/** Faults that happen now and are not kept. */
const Immediate = Type.Union([
  exact({ kind: Type.Literal('restart'), down_ms: Type.Optional(Milliseconds) }),
  exact({ kind: Type.Literal('conversation_deleted'), conversation_id: Id, account_id: Type.Optional(Id) }),
])
export const FaultBody = Type.Union([Kept, Immediate])

export type WireFault = Static<typeof Kept>
export type ImmediateFault = Static<typeof Immediate>

export function isImmediate(fault: Static<typeof FaultBody>): fault is ImmediateFault {
  return fault.kind === 'restart' || fault.kind === 'conversation_deleted'
}

export function parseFault(wire: WireFault): Fault {
  if (wire.kind === 'inbox_deleted') return { kind: wire.kind, inboxId: wire.inbox_id }
  if (wire.kind === 'refused') return { kind: wire.kind }
  const common = defined({
    method: wire.method,
    path: wire.path === undefined ? undefined : new RegExp(wire.path),
    times: wire.times,
    probability: wire.probability,
    strikesAgents: wire.strikes_agents,
  })
  switch (wire.kind) {
    case 'status':
      return { kind: wire.kind, status: wire.status, afterCommit: wire.after_commit ?? false, ...common }
    case 'answer':
      return { kind: wire.kind, status: wire.status, body: wire.body, ...common }
    case 'cut':
      return { kind: wire.kind, afterCommit: wire.after_commit ?? false, ...common }
    case 'timeout':
      return { kind: wire.kind, commit: wire.commit, ...defined({ commitMs: wire.commit_ms }), ...common }
    case 'slow':
      return { kind: wire.kind, ms: wire.ms, ...common }
    case 'wrong_token':
    case 'not_in_account':
    case 'account_suspended':
      return { kind: wire.kind, ...common }
  }
}

export function formatFault({ id, fault, left }: { id: number; fault: Fault; left: number }): object {
  const { path, ...rest } = fault
  return { id, ...rest, ...(path ? { path: path.source } : {}), left: Number.isFinite(left) ? left : null }
}

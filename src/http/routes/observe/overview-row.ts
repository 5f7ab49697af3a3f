// One instance as the overview and the live events show it.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import type { BanRisk } from '../../../guard/ban-risk.ts'
import type { InstanceName } from '../../../core/ids.ts'
import type { LastMessageTimes } from '../../../core/live.ts'
import type { ListedInstance } from '../../../instances/roster/roster.ts'
import { LastErrorCode, State } from '../../instance-view.ts'
import { nullable, Timestamp, toTimestamp } from '../../schemas.ts'

export type RowDeps = {
  lastMessages: { of: (instance: InstanceName) => LastMessageTimes }
  outboxPending: (instance: InstanceName) => number
  inboxPending: (instance: InstanceName) => number
  parked: (instance: InstanceName) => number
  banRisk: Pick<BanRisk, 'snapshot'>
}

const messageTime = (what: string) =>
  nullable(Type.String({ format: 'date-time', description: `${what}; null when it is not known` }))

export const OverviewRow = Type.Object(
  {
    name: Type.String(),
    owner_tag: Type.String(),
    state: State,
    phone: Type.String({ description: 'E.164 without +; empty before pairing' }),
    qr_available: Type.Boolean({ description: 'GET /api/instances/:name/qr gives the code' }),
    last_error_code: LastErrorCode,
    last_error: nullable(Type.String()),
    ready_at: nullable(Timestamp),
    last_in_at: messageTime('When the helpdesk last took a message of this instance'),
    last_out_at: messageTime('When this instance last sent a message'),
    outbox_pending: Type.Integer({ description: 'Messages of agents that are not sent yet' }),
    inbox_pending: Type.Integer({ description: 'Received messages that the helpdesk does not have yet' }),
    parked: Type.Integer({ description: 'Received messages that were set aside' }),
    ban_level: Type.String({ description: 'ok, low, moderate or high' }),
    pending_logout: Type.Boolean({ description: 'There is a logout that WhatsApp has not confirmed yet' }),
  },
  { title: 'OverviewRow' },
)

export function toOverviewRow(deps: RowDeps, account: ListedInstance): Static<typeof OverviewRow> {
  const { record } = account
  const { name } = record
  const { inAt, outAt } = deps.lastMessages.of(name)
  return {
    name,
    owner_tag: record.ownerTag,
    state: record.state,
    phone: /^(\d+)@/.exec(record.jid ?? '')?.[1] ?? '',
    qr_available: account.qr !== null,
    last_error_code: record.lastErrorCode,
    last_error: record.lastError,
    ready_at: toTime(record.readyAt),
    last_in_at: toTime(inAt),
    last_out_at: toTime(outAt),
    outbox_pending: deps.outboxPending(name),
    inbox_pending: deps.inboxPending(name),
    parked: deps.parked(name),
    ban_level: deps.banRisk.snapshot(name).level,
    pending_logout: account.isLogoutPending,
  }
}

function toTime(at: number | null): string | null {
  return at === null ? null : toTimestamp(at)
}

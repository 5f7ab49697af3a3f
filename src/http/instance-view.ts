// Translates instances to the JSON of the API.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import { instanceStates } from '../core/instance.ts'
import { lastErrorCodes } from '../core/last-error.ts'
import { lifecycleEvents } from '../core/lifecycle/lifecycle.ts'
import type { WebhookSubscriber } from '../core/lifecycle/lifecycle.ts'
import { shownProxy } from '../core/network-proxy.ts'
import type { ListedInstance } from '../instances/roster/roster.ts'
import { toOwnValues, withOwnValues } from './own-settings.ts'
import type { OwnSettingRules } from './own-settings.ts'
import { nullable, Timestamp, toTimestamp } from './schemas.ts'

export const State = Type.Unsafe<(typeof instanceStates)[number]>({ type: 'string', enum: [...instanceStates] })

export const Subscriber = Type.Object(
  {
    url: Type.String({ maxLength: 2048, description: 'https URL, or http to a private address or name' }),
    events: Type.Optional(
      Type.Array(Type.Unsafe<WebhookSubscriber['events'][number]>({ type: 'string', enum: [...lifecycleEvents] }), {
        maxItems: lifecycleEvents.length,
        description: 'Only these events; empty or absent: all',
      }),
    ),
  },
  { title: 'WebhookSubscriber' },
)

export const Summary = Type.Object(
  { name: Type.String(), state: State, jid: nullable(Type.String()) },
  { title: 'InstanceSummary' },
)

export const ListItem = Type.Object(
  { name: Type.String(), state: State, jid: Type.Optional(Type.String()) },
  { title: 'InstanceInfo' },
)

const pendingLogoutRule =
  'true while there is a logout that WhatsApp has not confirmed yet: ' +
  'the phone still lists the device, and the service tries for 30 days'

/** The answer to a logout that WhatsApp has not confirmed yet. */
export const PendingLogout = Type.Optional(Type.Boolean({ description: pendingLogoutRule }))
export const pendingLogoutAdvice =
  'WhatsApp has not confirmed the logout yet, and the service tries again for 30 days. ' +
  'If the device must go at once, remove it on the phone under Linked devices'

const Qr = Type.Object({
  available: Type.Boolean(),
  generated_at: nullable(Timestamp),
  expires_in_seconds: nullable(Type.Integer()),
})

export const LastErrorCode = nullable(
  Type.Unsafe<(typeof lastErrorCodes)[number]>({ type: 'string', enum: [...lastErrorCodes] }),
)

const HistoryView = Type.Object({
  enabled: Type.Boolean({ description: 'The history is imported when the account is linked' }),
  days: Type.Integer({ description: 'How many days back' }),
  asked_days: Type.Integer({
    description: 'For how many days the phone was asked when the account was linked; 0: pair again to ask the phone',
  }),
})

export const Detail = Type.Object(
  {
    name: Type.String(),
    state: State,
    jid: nullable(Type.String()),
    phone: Type.String({ description: 'E.164 without +; empty before pairing' }),
    qr: Qr,
    created_at: Timestamp,
    paired_at: nullable(Timestamp),
    ready_at: nullable(Timestamp),
    last_event_at: nullable(Timestamp),
    owner_tag: Type.String(),
    spamguard_enabled: Type.Boolean(),
    spamguard_blocks: Type.Integer(),
    inbox_id: Type.Integer(),
    events_webhook_url: Type.String(),
    events_webhook_subscribers: Type.Array(Subscriber),
    last_qr_msg_id: Type.Integer(),
    last_jid: nullable(Type.String()),
    reconnect_attempts: Type.Integer(),
    last_error: nullable(Type.String()),
    network_proxy: nullable(
      Type.String({ description: 'Its own proxy, without user and password; null: the proxy of the service, if any' }),
    ),
    outgoing_rate_limit: nullable(
      Type.Integer({
        description: 'Its own limit of messages per minute, 0: no limit; null: the limit of the service',
      }),
    ),
    history: HistoryView,
    last_error_code: LastErrorCode,
    pending_logout: Type.Boolean({ description: pendingLogoutRule }),
  },
  { title: 'Instance' },
)

/** The schema of the details of an instance. */
export function detailWith(rules: OwnSettingRules) {
  return withOwnValues(rules, Detail)
}

export function toSummary({ record: { name, state, jid } }: ListedInstance): Static<typeof Summary> {
  return { name, state, jid }
}

export function toListItem({ record: { name, state, jid } }: ListedInstance): Static<typeof ListItem> {
  return jid === null ? { name, state } : { name, state, jid }
}

export function toDetail(rules: OwnSettingRules, account: ListedInstance, now: number): Static<typeof Detail> {
  const { record } = account
  return {
    ...toOwnValues(rules, record.ownSettings),
    name: record.name,
    state: record.state,
    jid: record.jid,
    phone: /^(\d+)@/.exec(record.jid ?? '')?.[1] ?? '',
    qr: toQr(account, now),
    created_at: toTimestamp(record.createdAt),
    paired_at: toTimestampOrNull(record.pairedAt),
    ready_at: toTimestampOrNull(record.readyAt),
    last_event_at: toTimestampOrNull(record.lastEventAt),
    owner_tag: record.ownerTag,
    spamguard_enabled: record.isSpamguardEnabled,
    spamguard_blocks: record.spamguardBlocks,
    inbox_id: record.inboxId,
    events_webhook_url: record.eventsWebhookUrl,
    events_webhook_subscribers: record.eventsWebhookSubscribers.map(({ url, events }) => ({
      url,
      events: [...events],
    })),
    last_qr_msg_id: record.lastQrMessageId,
    last_jid: record.lastJid,
    reconnect_attempts: account.reconnectAttempts,
    last_error: record.lastError,
    network_proxy: record.networkProxy === null ? null : shownProxy(record.networkProxy),
    outgoing_rate_limit: record.outgoingRateLimit,
    history: {
      enabled: record.isHistoryEnabled,
      days: record.historyDays,
      asked_days: record.historyAskedDays,
    },
    last_error_code: record.lastErrorCode,
    pending_logout: account.isLogoutPending,
  }
}

function toQr({ qr }: ListedInstance, now: number): Static<typeof Qr> {
  if (!qr) return { available: false, generated_at: null, expires_in_seconds: null }
  const left = Math.max(0, Math.ceil((qr.generatedAt + qr.lifetimeMs - now) / 1000))
  return { available: true, generated_at: toTimestamp(qr.generatedAt), expires_in_seconds: left }
}

function toTimestampOrNull(at: number | null): string | null {
  return at === null ? null : toTimestamp(at)
}

// The record of an instance as the service sees it, and its translation to and from the columns.

import type { Insertable, Selectable, Updateable } from 'kysely'
import type { OwnSettings } from '../../../core/chosen-settings.ts'
import type { InstanceName, Jid } from '../../../core/ids.ts'
import type { InstanceState } from '../../../core/instance.ts'
import type { LastErrorCode } from '../../../core/last-error.ts'
import type { WebhookSubscriber } from '../../../core/lifecycle/lifecycle.ts'
import { placeOf } from '../../engine/statement.ts'
import type { Secret } from '../../engine/statement.ts'
import { instanceSecrets, keptSessionSecrets } from '../../schema/accounts.ts'
import type { InstanceTable, KeptSessionTable } from '../../schema/accounts.ts'

export type InstanceRow = {
  name: InstanceName
  ownerTag: string
  state: InstanceState
  jid: Jid | null
  lastJid: Jid | null
  sessionId: string | null
  /** The session that an open pairing will become. */
  pairingSessionId: string | null
  /** The session before, which is still valid. It is used again when the network refuses the newer one at its first login. */
  previousSessionId: string | null
  inboxId: number
  eventsWebhookUrl: string
  eventsWebhookSubscribers: readonly WebhookSubscriber[]
  isSpamguardEnabled: boolean
  spamguardBlocks: number
  lastQrMessageId: number
  lastError: string | null
  lastErrorCode: LastErrorCode | null
  createdAt: number
  pairedAt: number | null
  readyAt: number | null
  lastEventAt: number | null
  /** Since when subscribers know that the session is down; null while they believe that it is up. */
  downSince: number | null
  /** When subscribers were told that the session stays down. */
  unreachableAt: number | null
  /** When a temporary ban ends. */
  retryAt: number | null
  /** The URL of its own proxy, with user and password; null: the proxy of the service, if there is one. */
  networkProxy: string | null
  /** Messages per minute; 0 is no limit. Null: the limit of the service. */
  outgoingRateLimit: number | null
  /** The number that logged in last, and since when it is linked. */
  linkedJid: Jid | null
  linkedAt: number | null
  /** Since when no number is linked; null while one is. */
  unlinkedAt: number | null
  /** The history is imported when the account is linked, for so many days. */
  isHistoryEnabled: boolean
  historyDays: number
  /** For how many days the phone was asked when the account was linked; 0 when it was not asked. */
  historyAskedDays: number
  /** The settings that it has of its own. A change replaces the object. */
  ownSettings: OwnSettings
}

export type InstanceChanges = Partial<Omit<InstanceRow, 'name' | 'createdAt'>>

/** The session of a deleted instance, which can be resumed for a while. */
export type KeptSession = {
  sessionId: string
  name: InstanceName
  ownerTag: string
  jid: Jid
  keptAt: number
  networkProxy: string | null
  /** Since when the number is linked; null when an earlier build kept the session. */
  linkedAt: number | null
}

const columns = {
  name: 'name',
  ownerTag: 'owner_tag',
  state: 'state',
  jid: 'jid',
  lastJid: 'last_jid',
  sessionId: 'session_id',
  pairingSessionId: 'pairing_session_id',
  previousSessionId: 'previous_session_id',
  inboxId: 'inbox_id',
  eventsWebhookUrl: 'events_webhook_url',
  eventsWebhookSubscribers: 'events_webhook_subscribers',
  isSpamguardEnabled: 'spamguard_enabled',
  spamguardBlocks: 'spamguard_blocks',
  lastQrMessageId: 'last_qr_msg_id',
  lastError: 'last_error',
  lastErrorCode: 'last_error_code',
  createdAt: 'created_at',
  pairedAt: 'paired_at',
  readyAt: 'ready_at',
  lastEventAt: 'last_event_at',
  downSince: 'down_since',
  unreachableAt: 'unreachable_at',
  retryAt: 'retry_at',
  networkProxy: 'network_proxy',
  outgoingRateLimit: 'outgoing_rate_limit',
  linkedJid: 'linked_jid',
  linkedAt: 'linked_at',
  unlinkedAt: 'unlinked_at',
  isHistoryEnabled: 'history_enabled',
  historyDays: 'history_days',
  historyAskedDays: 'history_asked_days',
  ownSettings: 'own_settings',
} as const satisfies Record<keyof InstanceRow, keyof InstanceTable>

/** A record with nothing set: what every new instance starts from. */
export function blankInstance(name: InstanceName, createdAt: number): InstanceRow {
  return {
    name,
    ownerTag: '',
    state: 'disconnected',
    jid: null,
    lastJid: null,
    sessionId: null,
    pairingSessionId: null,
    previousSessionId: null,
    inboxId: 0,
    eventsWebhookUrl: '',
    eventsWebhookSubscribers: [],
    isSpamguardEnabled: false,
    spamguardBlocks: 0,
    lastQrMessageId: 0,
    lastError: null,
    lastErrorCode: null,
    createdAt,
    pairedAt: null,
    readyAt: null,
    lastEventAt: null,
    downSince: null,
    unreachableAt: null,
    retryAt: null,
    networkProxy: null,
    outgoingRateLimit: null,
    linkedJid: null,
    linkedAt: null,
    unlinkedAt: null,
    isHistoryEnabled: false,
    historyDays: 7,
    historyAskedDays: 0,
    ownSettings: {},
  }
}

export function toInstanceRow(stored: Selectable<InstanceTable>): InstanceRow {
  return {
    name: stored.name,
    ownerTag: stored.owner_tag,
    state: stored.state,
    jid: stored.jid,
    lastJid: stored.last_jid,
    sessionId: stored.session_id,
    pairingSessionId: stored.pairing_session_id,
    previousSessionId: stored.previous_session_id,
    inboxId: stored.inbox_id,
    eventsWebhookUrl: stored.events_webhook_url,
    eventsWebhookSubscribers: JSON.parse(stored.events_webhook_subscribers) as WebhookSubscriber[],
    isSpamguardEnabled: stored.spamguard_enabled === 1,
    spamguardBlocks: stored.spamguard_blocks,
    lastQrMessageId: stored.last_qr_msg_id,
    lastError: stored.last_error,
    lastErrorCode: stored.last_error_code,
    createdAt: stored.created_at,
    pairedAt: stored.paired_at,
    readyAt: stored.ready_at,
    lastEventAt: stored.last_event_at,
    downSince: stored.down_since,
    unreachableAt: stored.unreachable_at,
    retryAt: stored.retry_at,
    networkProxy: openedText(stored.network_proxy),
    outgoingRateLimit: stored.outgoing_rate_limit,
    linkedJid: stored.linked_jid,
    linkedAt: stored.linked_at,
    unlinkedAt: stored.unlinked_at,
    isHistoryEnabled: stored.history_enabled === 1,
    historyDays: stored.history_days,
    historyAskedDays: stored.history_asked_days,
    ownSettings: JSON.parse(stored.own_settings) as OwnSettings,
  }
}

export function toNewColumns(row: InstanceRow): Insertable<InstanceTable> {
  return toInstanceColumns(row.name, row) as Insertable<InstanceTable>
}

/** Only the columns that the changes name. */
export function toInstanceColumns(name: InstanceName, changes: Partial<InstanceRow>): Updateable<InstanceTable> {
  const { eventsWebhookSubscribers: subscribers, isSpamguardEnabled: isEnabled, networkProxy: proxy } = changes
  const { isHistoryEnabled: isAsked, ownSettings } = changes
  const names = Object.keys(changes) as (keyof InstanceRow)[]
  return {
    ...Object.fromEntries(names.map((each) => [columns[each], changes[each]])),
    ...(subscribers !== undefined && { events_webhook_subscribers: JSON.stringify(subscribers) }),
    ...(isEnabled !== undefined && { spamguard_enabled: isEnabled ? 1 : 0 }),
    ...(isAsked !== undefined && { history_enabled: isAsked ? 1 : 0 }),
    ...(ownSettings !== undefined && { own_settings: JSON.stringify(ownSettings) }),
    ...(proxy !== undefined && { network_proxy: sealedProxy(instanceSecrets.table, name, proxy) }),
  }
}

/** The names under which the columns of these changes are known outside, in order. */
export function changedColumns(changes: Partial<InstanceRow>): string[] {
  return (Object.keys(changes) as (keyof InstanceRow)[]).map((name) => columns[name]).sort()
}

/** All three tables name their rows with one column, and seal the proxy in a column of the same name. */
export function sealedProxy(table: string, key: string, proxy: string | null): Secret | null {
  return proxy === null ? null : { seal: Buffer.from(proxy), place: placeOf(table, [key], 'network_proxy') }
}

export function openedText(bytes: Uint8Array | null): string | null {
  return bytes && Buffer.from(bytes).toString('utf8')
}

export function toKeptSession(stored: Selectable<KeptSessionTable>): KeptSession {
  const { session_id: sessionId, name, owner_tag: ownerTag, jid, kept_at: keptAt, linked_at: linkedAt } = stored
  return { sessionId, name, ownerTag, jid, keptAt, linkedAt, networkProxy: openedText(stored.network_proxy) }
}

export function toKeptSessionColumns(kept: KeptSession): Insertable<KeptSessionTable> {
  const { sessionId, name, ownerTag, jid, keptAt, linkedAt, networkProxy } = kept
  const proxy = sealedProxy(keptSessionSecrets.table, sessionId, networkProxy)
  const when = { kept_at: keptAt, linked_at: linkedAt }
  return { session_id: sessionId, name, owner_tag: ownerTag, jid, ...when, network_proxy: proxy }
}

// The tables of the history: what the phone sent, what is imported of it, and the dates to correct.

import type { Generated } from 'kysely'
import type { ChatId, DestinationKey, InstanceName, Jid, NetworkMessageId, RowId } from '../../core/ids.ts'
import type { SecretColumns } from '../engine/statement.ts'
import type { SealedOrNull } from './sealed.ts'

/** posted; skipped: at the helpdesk already; filtered: says nothing to agents; error: the helpdesk refused it. */
export type HistoryOutcome = 'posted' | 'skipped' | 'filtered' | 'error'

/** An event that the phone sent. A row of a running import stays until the import of its chat has ended. */
export type HistoryMessageTable = {
  id: RowId
  instance: InstanceName
  /** The address under which the phone keeps the chat. */
  chat_jid: Jid
  network_id: NetworkMessageId
  /** The author in a group; empty in a chat of two. */
  participant: string
  kind: string
  sent_at: number
  /** The place in the chat, as the phone counts it. */
  position: number
  /** A NetworkEvent as JSON. An event with an outcome is dropped, except after an error. */
  event: SealedOrNull
  /** What the import made of it; null while it is still to be imported. */
  outcome: Generated<HistoryOutcome | null>
  /** The job that gave the event its outcome. */
  job_id: Generated<string | null>
}

/** A chat of the phone, and the oldest message of it that is known: a MessageKey as JSON. */
export type HistoryChatTable = {
  instance: InstanceName
  chat_jid: Jid
  anchor: string | null
  anchor_at: number | null
}

/**
 * imported   at least one message was posted
 * skipped    there was no new message
 * no_anchor  no message of the chat is known, so the phone could not be asked
 * error      the phone did not answer, or the helpdesk refused the chat
 */
export type ImportOutcome = 'imported' | 'skipped' | 'no_anchor' | 'error'

/** chat: the empty conversation of the chat; open: its open conversation; history: one of its own. */
export type ImportTarget = 'chat' | 'open' | 'history'

/** A chat of a job. `jids` are the addresses under which the phone keeps it, as JSON. */
export type ImportChatTable = {
  job_id: string
  chat: ChatId
  jids: string
  state: 'waiting' | 'running' | 'done'
  outcome: Generated<ImportOutcome | null>
  /** The message before which the phone is asked: an Anchor as JSON. Stored before the phone is asked. */
  anchor: Generated<string | null>
  destination: Generated<DestinationKey | null>
  /** When the creation of a History conversation began; null when none is under way. */
  opening_since: Generated<number | null>
  /** The conversation that gets the messages. */
  conversation_id: Generated<number | null>
  target: Generated<ImportTarget | null>
  seen: Generated<number>
  kept: Generated<number>
  posted: Generated<number>
  skipped: Generated<number>
  errors: Generated<number>
  oldest_at: Generated<number | null>
  newest_at: Generated<number | null>
}

/** A posted message whose date at the helpdesk is still to be corrected. `base_url` is that of the installation. */
export type MessageDateTable = {
  destination: DestinationKey
  message_id: number
  base_url: string
  account_id: number
  inbox_id: number
  conversation_id: number
  source_id: NetworkMessageId
  sent_at: number
  queued_at: number
  /** 1: the date is right, but the conversation is corrected once more when its import has ended. */
  is_held: Generated<number | null>
}

export const historyMessageSecrets = {
  table: 'history_messages',
  key: ['id'],
  columns: ['event'],
} as const satisfies SecretColumns

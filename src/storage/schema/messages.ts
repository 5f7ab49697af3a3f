// The tables of the messages: the journal and the inbox, the map of messages, the outbox.

import type { Generated } from 'kysely'
import type { ChatId, DestinationKey, InstanceName, Jid, NetworkMessageId, RowId } from '../../core/ids.ts'
import type { OutboxPayload, OutboxStatus } from '../../core/outbox.ts'
import type { Shown } from '../../core/shown.ts'
import type { Tick } from '../../core/tick.ts'
import type { SecretColumns } from '../engine/statement.ts'
import type { Sealed, SealedOrNull } from './sealed.ts'

/** Opened messages. The network may deliver a message again, and a key opens it only once. `envelope` is its fingerprint. */
export type OpenedTable = {
  session_id: string
  envelope: string
  opened_at: number
}

/** Stanzas that the library itself must handle, until it has. */
export type UnfinishedTable = {
  session_id: string
  stanza_id: string
  stored_at: number
  stanza: Sealed
}

export type InboxTable = {
  /** Sorts in the order of arrival. */
  id: RowId
  instance: InstanceName
  event: Sealed
  received_at: number
  state: Generated<'pending' | 'parked'>
  attempts: Generated<number>
  kind: string
  last_error: string | null
  /**
   * Set when the row comes from a backup: the event may have been posted since. Its message then has a higher id than this
   * one, the newest that the backup knows.
   */
  posted_after: Generated<number | null>
}

/** Which message of the network is which at the helpdesk; a row is claimed before the message is posted. */
export type MessageMapTable = {
  id: RowId
  instance: InstanceName
  destination: DestinationKey
  chat: ChatId
  sender: string
  network_id: NetworkMessageId
  /** What of that message: itself, its reaction, a notice about it, a file that came later. */
  kind: string
  /** in: written by others; echo: on the owner's phone; out: sent by us for an agent. */
  direction: 'in' | 'echo' | 'out'
  /** A MessageKey as JSON. */
  network_key: string
  network_at: number
  conversation_id: number | null
  message_id: number | null
  claimed_at: number
  /** When the POST under way began, and the newest message id known before it. */
  posting_since: number | null
  posting_after: number | null
  read_at: number | null
  /** Of a message to a customer: what the phones report (null: only sent), and since when. */
  reported: Generated<Tick | null>
  reported_at: Generated<number | null>
  /** What of that the helpdesk was told. */
  ticked: Generated<Tick | null>
  /** When to tell the helpdesk; null when there is nothing to tell. */
  tick_at: Generated<number | null>
  /** 1 for a message of ours that offers choices. */
  has_choices: Generated<number | null>
  /** What later quotes, votes, edits and answers need of it. */
  content: SealedOrNull
  /** The header with which the message begins at the helpdesk, while it can still be rewritten. */
  header: Generated<string | null>
}

/** A message on its way to the network. */
export type OutboxTable = {
  /** Sorts in the order of acceptance. */
  id: RowId
  kind: OutboxPayload['type']
  instance: InstanceName
  owner_tag: string
  /** The inbox of the instance when it was accepted: the route back to the helpdesk. */
  inbox_id: number
  destination: DestinationKey
  /** As in conversations: messages of one chat leave one after the other. */
  chat: ChatId
  remote_jid: Jid
  conversation_id: number | null
  message_id: number | null
  status: OutboxStatus
  /** 1 while it waits for a connection or for its pace; such rows are limited. */
  waiting: number
  /** 1 when it has waited for a connection: it leaves at the drain rate. */
  drained: number
  /** While it waits for a connection: when it expires. After a failure: until when the Retry of the agent counts. */
  expires_at: number | null
  attempts: Generated<number>
  next_attempt_at: Generated<number>
  /** 1 when a frame may have left without an acknowledgement. */
  unconfirmed: Generated<number>
  /** OutboxPart[] as JSON. */
  parts: Generated<string>
  /** OutboxPayload as JSON; dropped once sent. */
  payload: SealedOrNull
  /** What the spamguard compares. */
  fingerprint: string | null
  reason: string | null
  /** What the helpdesk showed of the message when we last knew. */
  shown: Generated<Shown>
  /** When to look at the helpdesk; null when there is no reason to. */
  look_at: number | null
  created_at: number
  settled_at: number | null
}

/** Over all history; rows that are settled are kept for a while only. */
export type OutboxTotalsTable = {
  instance: InstanceName
  sent: Generated<number>
  expired: Generated<number>
  failed: Generated<number>
}

/** Callbacks that have been settled: a repeat is answered and does nothing, whichever instance it comes in through. */
export type SettledCallbackTable = {
  destination: DestinationKey
  kind: string
  event_id: number
  outbox_id: RowId
  settled_at: number
}

/** The keys that programs gave to their direct messages: a repeated request is answered and sends nothing. */
export type RequestKeyTable = {
  instance: InstanceName
  request_key: string
  /** Of the request, to tell a repeat from another request under the same key. */
  fingerprint: string
  outbox_id: RowId
  settled_at: number
}

/** When each destination gave us its first callback. */
export type FirstCallbackTable = {
  destination: DestinationKey
  heard_at: number
}

/** A call that the service rejects. `rejected_at` is null until the network has confirmed it. */
export type RejectedCallTable = {
  instance: InstanceName
  call_id: NetworkMessageId
  /** Who called. */
  phone: string | null
  lid: string | null
  claimed_at: number
  rejected_at: number | null
  /** Whether the caller is still to get a text, got it, or does not get it although one was due; null: none was due. */
  text_state: 'due' | 'given' | 'dropped' | null
}

export const unfinishedSecrets = {
  table: 'unfinished',
  key: ['session_id', 'stanza_id'],
  columns: ['stanza'],
} as const satisfies SecretColumns

export const inboxSecrets = { table: 'inbox', key: ['id'], columns: ['event'] } as const satisfies SecretColumns

export const messageMapSecrets = {
  table: 'message_map',
  key: ['id'],
  columns: ['content'],
} as const satisfies SecretColumns

export const outboxSecrets = { table: 'outbox', key: ['id'], columns: ['payload'] } as const satisfies SecretColumns

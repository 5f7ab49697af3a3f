// Corrects the dates of imported messages in Chatwoot's tables: those of the messages, of their attachments and of their
// conversations. Rows that Chatwoot has locked are left for the next time, so the work never waits for Chatwoot while it
// holds locks itself.
//
// Chatwoot sorts conversations by their last activity, and its auto-resolve goes by it. So the last activity is set back only in a
// resolved conversation: an open one would be resolved, with a survey for the customer.

import type { ClientBase } from 'pg'
import type { InboxAccess } from '../../core/downstream.ts'
import type { Backdated, DatedMessage } from '../../core/helpdesk/helpdesk-database.ts'

type Client = Pick<ClientBase, 'query'>
type Inbox = Pick<InboxAccess, 'accountId' | 'inboxId'>
type IdRow = { id: number }
type FoundRow = { id: number; conversation_id: number }

const ofInbox = 'account_id = $1 AND inbox_id = $2'
/** Chatwoot's own numbers. */
const [incoming, outgoing, failed, resolved] = [0, 1, 3, 1]

const findMessages = `
  SELECT messages.id, messages.conversation_id
  FROM unnest($3::bigint[], $4::text[]) AS wanted (id, source_id)
  JOIN messages ON messages.id = wanted.id AND messages.source_id = wanted.source_id
  WHERE ${ofInbox}`

// While a conversation is locked here, Chatwoot cannot write a newer activity into it.
const findBusyConversations = `
  WITH free AS (
    SELECT id FROM conversations WHERE id = ANY($3::bigint[]) AND ${ofInbox} FOR NO KEY UPDATE SKIP LOCKED
  )
  SELECT id FROM conversations WHERE id = ANY($3::bigint[]) AND ${ofInbox} AND id NOT IN (SELECT id FROM free)`

// The column holds UTC without a time zone. The network tells whole seconds and Chatwoot sorts by this time alone, so messages of
// one second get microseconds in the order of their ids. No message is later than its POST.
const correctMessages = `
  WITH wanted AS (
    SELECT * FROM unnest($3::bigint[], $4::text[], $5::bigint[]) AS each (id, source_id, seconds)
  ), free AS (
    SELECT messages.id FROM messages JOIN wanted ON wanted.id = messages.id
    WHERE ${ofInbox} FOR NO KEY UPDATE OF messages SKIP LOCKED
  )
  UPDATE messages
  SET created_at = LEAST(
    messages.created_at,
    to_timestamp(wanted.seconds) AT TIME ZONE 'UTC' + (messages.id % 1000000) * interval '1 microsecond'
  )
  FROM wanted
  WHERE messages.id = wanted.id AND messages.source_id = wanted.source_id AND ${ofInbox}
    AND messages.id IN (SELECT id FROM free)
  RETURNING messages.id`

const correctAttachments = `
  UPDATE attachments SET created_at = messages.created_at
  FROM messages
  WHERE attachments.message_id = messages.id AND attachments.account_id = $1
    AND messages.id = ANY($3::bigint[]) AND messages.account_id = $1 AND messages.inbox_id = $2`

/** The time of the first or last message of one type. Chatwoot has an index of conversation, account, type and time. */
const edge = (type: number, order: 'ASC' | 'DESC', more = '') => `
  (SELECT created_at FROM messages
   WHERE conversation_id = batch.conversation_id AND account_id = $1 AND message_type = ${type}
     AND private IS NOT TRUE AND (status IS DISTINCT FROM ${failed} OR source_id IS NOT NULL) ${more}
   ORDER BY created_at ${order} LIMIT 1)`

// Notes, failed answers, and the lines and templates of Chatwoot itself do not count. A message with a source id is never such
// an answer: Chatwoot also shows it as failed when a callback about it failed.
const batchTimes = `
  SELECT batch.*, ends.*, ${edge(incoming, 'ASC', 'AND (last_out IS NULL OR created_at > last_out)')} AS first_unanswered
  FROM (
    SELECT conversation_id, min(created_at) AS first_at,
      min(created_at) FILTER (WHERE message_type = ${outgoing} AND private IS NOT TRUE) AS first_reply
    FROM messages WHERE id = ANY($3::bigint[]) AND ${ofInbox} GROUP BY conversation_id
  ) AS batch
  CROSS JOIN LATERAL (SELECT ${edge(incoming, 'DESC')} AS last_in, ${edge(outgoing, 'DESC')} AS last_out) AS ends`

// No customer waits in a resolved conversation. A time that Chatwoot left empty stays empty.
const correctConversations = `
  UPDATE conversations
  SET created_at = LEAST(conversations.created_at, first_at),
      last_activity_at = CASE
        WHEN status = ${resolved} THEN COALESCE(GREATEST(last_in, last_out), last_activity_at)
        ELSE last_activity_at
      END,
      waiting_since = CASE
        WHEN status <> ${resolved} AND waiting_since IS NOT NULL THEN LEAST(waiting_since, first_unanswered)
      END,
      first_reply_created_at = CASE
        WHEN first_reply_created_at IS NOT NULL THEN LEAST(first_reply_created_at, first_reply)
      END
  FROM (${batchTimes}) AS times
  WHERE conversations.id = times.conversation_id AND ${ofInbox}`

/** Runs inside a transaction in which each statement sees what others have committed before it. */
export async function backdate(
  client: Client,
  { accountId, inboxId }: Inbox,
  dates: readonly DatedMessage[],
): Promise<Backdated> {
  const inbox = [accountId, inboxId]
  const found = await client.query<FoundRow>(findMessages, [
    ...inbox,
    dates.map(({ messageId }) => messageId),
    dates.map(({ sourceId }) => sourceId),
  ])
  const conversations = new Map(found.rows.map((row) => [row.id, row.conversation_id]))
  const busy = await client.query<IdRow>(findBusyConversations, [...inbox, [...new Set(conversations.values())]])
  const waiting = new Set(busy.rows.map(({ id }) => id))
  const corrected = await correct(
    client,
    inbox,
    dates.filter(({ messageId }) => {
      const conversation = conversations.get(messageId)
      return conversation !== undefined && !waiting.has(conversation)
    }),
  )
  return { corrected, missing: dates.flatMap(({ messageId }) => (conversations.has(messageId) ? [] : [messageId])) }
}

async function correct(client: Client, inbox: readonly number[], dates: readonly DatedMessage[]): Promise<number[]> {
  const { rows } = await client.query<IdRow>(correctMessages, [
    ...inbox,
    dates.map(({ messageId }) => messageId),
    dates.map(({ sourceId }) => sourceId),
    dates.map(({ at }) => Math.floor(at / 1000)),
  ])
  const ids = rows.map(({ id }) => id)
  await client.query(correctAttachments, [...inbox, ids])
  await client.query(correctConversations, [...inbox, ids])
  return ids
}

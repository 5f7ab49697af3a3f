// Rewrites the headers of posted messages in Chatwoot's table of messages.

import type { ClientBase } from 'pg'
import type { InboxAccess } from '../../core/downstream.ts'
import type { HeaderChange, HeaderChanges } from '../../core/helpdesk/helpdesk-database.ts'

/** Chatwoot refuses a longer text. */
const longestContent = 150_000

// A message must be of our helpdesk inbox and have our source id. It is changed only while it begins with the old header, so a
// message that was deleted or changed by others stays as it is. A new header may begin with the old one, so a message that begins
// with such a new header has been changed already. Chatwoot shows agents `processed_message_content`.
const statement = `
  WITH wanted AS (
    SELECT * FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[]) AS each (id, source_id, old, new)
  ), changed AS (
    UPDATE messages
    SET content = wanted.new || substr(messages.content, length(wanted.old) + 1),
        processed_message_content = CASE
          WHEN starts_with(messages.processed_message_content, wanted.old)
          THEN wanted.new || substr(messages.processed_message_content, length(wanted.old) + 1)
          ELSE messages.processed_message_content
        END
    FROM wanted
    WHERE messages.id = wanted.id AND messages.account_id = $1 AND messages.inbox_id = $2
      AND messages.source_id = wanted.source_id
      AND starts_with(messages.content, wanted.old)
      AND NOT (starts_with(wanted.new, wanted.old) AND starts_with(messages.content, wanted.new))
      AND length(messages.content) - length(wanted.old) + length(wanted.new) <= ${longestContent}
    RETURNING messages.id
  )
  SELECT wanted.id, changed.id IS NOT NULL AS changed
  FROM wanted
  JOIN messages ON messages.id = wanted.id AND messages.account_id = $1 AND messages.inbox_id = $2
    AND messages.source_id = wanted.source_id
  LEFT JOIN changed ON changed.id = wanted.id
  WHERE changed.id IS NOT NULL OR starts_with(messages.content, wanted.new)`

/** A message that has the new header already counts as current: the answer of an earlier change may have been lost. */
export async function rewriteHeaders(
  client: Pick<ClientBase, 'query'>,
  { accountId, inboxId }: Pick<InboxAccess, 'accountId' | 'inboxId'>,
  changes: readonly HeaderChange[],
): Promise<HeaderChanges> {
  const { rows } = await client.query<{ id: string; changed: boolean }>(statement, [
    accountId,
    inboxId,
    changes.map(({ messageId }) => messageId),
    changes.map(({ sourceId }) => sourceId),
    changes.map(({ from }) => from),
    changes.map(({ to }) => to),
  ])
  return { current: rows.map(({ id }) => Number(id)), changed: rows.filter(({ changed }) => changed).length }
}

// The tables of Chatwoot that the service changes, with the columns that matter, and the rights that the documents name.

import { readFileSync } from 'node:fs'
import type { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'

type SeenMessage = ReturnType<SimHelpdesk['messages']>[number]
type SeenConversation = ReturnType<SimHelpdesk['see']['conversations']>[number]

export const messageTypes: Record<SeenMessage['messageType'], number> = {
  ...{ incoming: 0, outgoing: 1, activity: 2, template: 3 },
}
export const statuses: Record<SeenConversation['status'], number> = { open: 0, resolved: 1, pending: 2, snoozed: 3 }

export const chatwootSchema = [
  `CREATE TABLE messages (
    id serial PRIMARY KEY,
    content text,
    account_id integer NOT NULL,
    inbox_id integer NOT NULL,
    conversation_id integer NOT NULL,
    message_type integer NOT NULL,
    created_at timestamp without time zone NOT NULL,
    updated_at timestamp without time zone NOT NULL DEFAULT now(),
    private boolean DEFAULT false NOT NULL,
    status integer DEFAULT 0,
    source_id text,
    content_attributes json DEFAULT '{}'::json,
    processed_message_content text
  )`,
  `CREATE INDEX index_messages_on_conversation_account_type_created
    ON messages (conversation_id, account_id, message_type, created_at)`,
  `CREATE TABLE attachments (
    id serial PRIMARY KEY,
    file_type integer DEFAULT 0,
    message_id integer NOT NULL,
    account_id integer NOT NULL,
    created_at timestamp without time zone NOT NULL,
    updated_at timestamp without time zone NOT NULL DEFAULT now()
  )`,
  'CREATE INDEX index_attachments_on_message_id ON attachments (message_id)',
  `CREATE TABLE conversations (
    id serial PRIMARY KEY,
    account_id integer NOT NULL,
    inbox_id integer NOT NULL,
    status integer DEFAULT 0 NOT NULL,
    created_at timestamp without time zone NOT NULL,
    updated_at timestamp without time zone NOT NULL DEFAULT now(),
    last_activity_at timestamp without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    first_reply_created_at timestamp without time zone,
    waiting_since timestamp(6) without time zone
  )`,
]

const manual = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')

/** What the documents grant to the role, as `SELECT (id, …) ON messages`. */
export const documentedRights = [...manual.matchAll(/^GRANT ([^;]+) TO causeway;/gm)].map(([, right = '']) => right)

const types: Readonly<Record<string, string>> = {
  ...{ content: 'text', processed_message_content: 'text', source_id: 'text', private: 'boolean' },
}

/** How a column is given: times as seconds since 1970. */
export function typeOf(column: string): string {
  return isTime(column) ? 'float8' : (types[column] ?? 'integer')
}

/** Chatwoot stores times in UTC, without a time zone. */
export function storedAs(column: string, value: string): string {
  return isTime(column) ? `to_timestamp(${value}) AT TIME ZONE 'UTC'` : value
}

function isTime(column: string): boolean {
  return column.endsWith('_at') || column === 'waiting_since'
}

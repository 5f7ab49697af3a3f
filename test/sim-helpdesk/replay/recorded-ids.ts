// Maps the ids of the recorded Chatwoot to the ids of the simulator. Every table has ids of its own.

import type { Fields } from '../harness/recordings.ts'

export type Table = 'inbox' | 'channel' | 'contact' | 'conversation' | 'message' | 'attachment' | 'user' | 'bot' | 'row'

const tablesOfKeys: Record<string, Table> = {
  inbox_id: 'inbox',
  channel_id: 'channel',
  contact_id: 'contact',
  base_contact_id: 'contact',
  mergee_contact_id: 'contact',
  conversation_id: 'conversation',
  message_id: 'message',
  in_reply_to: 'message',
  assignee_id: 'user',
  user_ids: 'user',
  agent_bot: 'bot',
}

export class RecordedIds {
  readonly #known = new Map<string, number>()

  /** Remembers the simulator's id. A second, different id for the same recorded one is an error. */
  bind(table: Table, recorded: number, actual: number): boolean {
    const key = `${table} ${recorded}`
    const known = this.#known.get(key)
    if (known !== undefined) return known === actual
    this.#known.set(key, actual)
    return true
  }

  known(table: Table, recorded: number): number | undefined {
    return this.#known.get(`${table} ${recorded}`)
  }

  actual(table: Table, recorded: number): number {
    // The recordings use ids like 999999 for rows that do not exist.
    if (recorded >= 9999) return recorded
    const known = this.known(table, recorded)
    if (known === undefined) throw new Error(`no set-up creates the recorded ${table} ${recorded}`)
    return known
  }
}

/** The table that an id belongs to: by its own key, otherwise by the other keys of its object. */
export function tableOf(key: string, owner: Fields, otherwise: Table): Table | undefined {
  if (key === 'sender_id') return senderTables[String(owner['sender_type'])]
  if (key === 'account_id') return undefined
  return key === 'id' ? tableOfObject(owner, otherwise) : tablesOfKeys[key]
}

const senderTables: Record<string, Table> = { Contact: 'contact', User: 'user', AgentBot: 'bot' }
const pushTypes: Record<string, Table> = { contact: 'contact', user: 'user', agent_bot: 'bot' }

function tableOfObject(owner: Fields, otherwise: Table): Table {
  const has = (...keys: string[]) => keys.every((key) => key in owner)
  if (typeof owner['type'] === 'string' && owner['type'] in pushTypes) return pushTypes[owner['type']] ?? otherwise
  if (has('pubsub_token', 'hmac_verified')) return 'row'
  if (has('file_type')) return 'attachment'
  if (has('channel_type') || has('inbox_identifier')) return 'inbox'
  if (has('outgoing_url')) return 'bot'
  if (has('provider', 'available_name')) return 'user'
  if (has('message_type')) return 'message'
  if (has('phone_number')) return 'contact'
  return otherwise
}

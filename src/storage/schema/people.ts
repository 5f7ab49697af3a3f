// The tables of the people: who they are, their contacts and conversations at the helpdesk.

import type { Generated } from 'kysely'
import type { ChatId, DestinationKey, InstanceName } from '../../core/ids.ts'

export type PersonTable = {
  instance: InstanceName
  id: string
  phone: string | null
  lid: string | null
  push_name: string | null
  saved_name: string | null
}

export type ContactTable = {
  destination: DestinationKey
  source_id: string
  contact_id: number
  /** 1 when we created it. */
  ours: number
  name: string
  /** When the creation of a conversation began whose outcome is not known yet. */
  opening_since: Generated<number | null>
}

export type ConversationTable = {
  instance: InstanceName
  destination: DestinationKey
  /** A group's jid, or the id of a person. */
  chat: ChatId
  conversation_id: number
  contact_id: number
  source_id: string
  used_at: number
}

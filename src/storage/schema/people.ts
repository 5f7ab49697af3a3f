// The tables of the people: who they are, their contacts and conversations at the helpdesk.

import type { Generated } from 'kysely'
import type { ChatId, DestinationKey, InstanceName } from '../../core/ids.ts'

export type PersonTable = {
  instance: InstanceName
  id: ChatId
  phone: string | null
  lid: string | null
  push_name: string | null
  saved_name: string | null
}

/** Numbers that a person had before. A number that another person has now is not here. */
export type PersonPhoneTable = {
  instance: InstanceName
  phone: string
  person: ChatId
}

export type ContactTable = {
  destination: DestinationKey
  source_id: string
  contact_id: number
  /** 1 when we created the contact. */
  ours: number
  name: string
  /** The name that we wrote last; null when we never named the contact, or named it before this column existed. */
  given_name: Generated<string | null>
  /** The name that we are about to write; null when the outcome is known. */
  renaming_to: Generated<string | null>
  /** When the opening of a conversation began; null when none is open or its outcome is known. */
  opening_since: Generated<number | null>
  /** The account that opens it. */
  opening_by: Generated<InstanceName | null>
}

/** The picture of a contact. A row stays when its instance is deleted: otherwise our picture would count as an agent's. */
export type ContactPictureTable = {
  destination: DestinationKey
  contact_id: number
  /** The instance that asked the network last. */
  instance: InstanceName
  /** The picture that we uploaded, by the id that the network gives it; null when the contact has no picture of ours. */
  picture_id: string | null
  /** The address of the picture at the helpdesk after our upload. */
  thumbnail: string | null
  /** The file name of all our uploads to this contact. Stored before the first one. */
  file_name: string | null
  checked_at: number
}

export type ConversationTable = {
  instance: InstanceName
  destination: DestinationKey
  chat: ChatId
  conversation_id: number
  contact_id: number
  source_id: string
  used_at: number
}

/** Every chat that was ever shown in a conversation. A row stays when its chat goes on in another conversation. */
export type ConversationChatTable = {
  destination: DestinationKey
  conversation_id: number
  instance: InstanceName
  chat: ChatId
  /** The network's time of the newest message that the chat wrote into the conversation; 0 when there is none. */
  wrote_at: number
  /** When the conversation was opened for the chat, or when the posting of that newest message began. */
  used_at: number
  /** 1: the conversation holds the history of the chat. Only a person's own message is sent from it. */
  is_history: Generated<number | null>
  /** 1 while messages of the history are being posted into the conversation. */
  is_importing: Generated<number | null>
  /** When the last import into the conversation ended. */
  import_ended_at: Generated<number | null>
}

// The tables of the labels.

import type { ChatId, DestinationKey, InstanceName, Jid, RowId } from '../../core/ids.ts'

/** A label of the account at the network. Its title is how the helpdesk calls it; null when the label was deleted. */
export type LabelTable = {
  instance: InstanceName
  label_id: string
  name: string
  title: string | null
}

/** A label of a chat at the network, under the address by which the network names the chat. */
export type LabelledChatTable = {
  instance: InstanceName
  jid: Jid
  label_id: string
}

/** What network and helpdesk had when they last agreed about a chat. */
export type LabelAgreementTable = {
  instance: InstanceName
  chat: ChatId
  /** The helpdesk inbox and the conversation that the agreement is about; null before the first one. */
  destination: DestinationKey | null
  conversation_id: number | null
  /** A JSON array of titles. */
  titles: string
  /** Another text each time when something may have changed. */
  mark: RowId
  /** When the chat is looked at; null when nothing may have changed. */
  due_at: number | null
  /** How many looks have failed. */
  attempts: number
}

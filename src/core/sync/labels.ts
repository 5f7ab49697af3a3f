// Labels of chats at the network, in the service's own words.

import type { Chat } from '../address.ts'
import type { LabelEdit } from '../helpdesk/callback.ts'
import type { ChatId, DestinationKey, InstanceName, Jid } from '../ids.ts'

/** What the network tells about the labels of an account. `chat` is the address under which the network keeps the chat. */
export type LabelChange =
  | { kind: 'named'; labelId: string; name: string }
  | { kind: 'deleted'; labelId: string }
  | { kind: 'chat'; labelId: string; chat: Jid; isLabelled: boolean }

export type LabelNews = {
  /** In the order in which they happened. */
  changes: readonly LabelChange[]
  /** The changes are everything that the account has: what is not among them does not exist any more. */
  isWhole: boolean
  /** The account was linked anew, or is heard for the first time: nothing was agreed with it. Then the news are whole. */
  isNewLink: boolean
  /** The service made these changes itself. */
  isOwn: boolean
}

/** Hears of labels. An implementation of the first two must not throw. */
export type LabelReception = {
  /** Whether labels are listened to at all. */
  keepsLabels(instance: InstanceName): boolean
  /** The account has no labels: it is not an account of WhatsApp Business. */
  onNoLabels(instance: InstanceName): void
  /**
   * Resolves when the changes are stored. After a failure the same news come again. Each connection begins with news, also
   * when nothing has changed.
   */
  onLabels(instance: InstanceName, news: LabelNews): Promise<void>
}

/** Changes labels at the network. Rejects when the network does not confirm; then the change may have happened or not. */
export type NetworkLabels = {
  /** Whether the reception has everything that the network had when the connection began. Nothing may be changed before. */
  readonly isRead: boolean
  /** Resolves when the reception has all changes that the network has made until now. */
  refresh(): Promise<void>
  /** Creates the label, or gives it another name. */
  name(labelId: string, name: string): Promise<void>
  /** Sets or removes the label of a chat. */
  mark(labelId: string, chat: Jid, isLabelled: boolean): Promise<void>
  /** The address under which the network would keep a label of this chat. */
  addressOf(chat: Chat): Promise<Jid>
}

/** The labels of the conversation of a chat were changed at the helpdesk, by an agent, a rule or the service itself. */
export type ConversationLabels = LabelEdit & {
  instance: InstanceName
  chat: ChatId
  destination: DestinationKey
  conversationId: number
}

/** No attempt to bring the labels of a chat together is put off for longer. */
export const longestLabelPauseMs = 10 * 60_000

/** WhatsApp takes no more labels than this. */
export const mostLabels = 20

// Labels of chats at the network, in the service's own words.

import type { InstanceName, Jid } from './ids.ts'

/** What the network tells about the labels of an account. `chat` is the address under which the network keeps the chat. */
export type LabelChange =
  | { kind: 'named'; labelId: string; name: string }
  | { kind: 'deleted'; labelId: string }
  | { kind: 'chat'; labelId: string; chat: Jid; isLabelled: boolean }

export type LabelNews = {
  changes: readonly LabelChange[]
  /** The changes are everything that the account has: what is not among them does not exist any more. */
  isWhole: boolean
  /** The service made these changes itself. */
  isOwn: boolean
}

/** Hears of labels. */
export type LabelReception = {
  /** Whether labels are listened to at all. */
  keepsLabels(instance: InstanceName): boolean
  /** The account has no labels: it is not an account of WhatsApp Business. */
  onNoLabels(instance: InstanceName): void
  /**
   * Resolves when the changes are stored. If it does not, the next connection reads all labels again. Before the first news of
   * a connection has been stored, no label can be changed.
   */
  onLabels(instance: InstanceName, news: LabelNews): Promise<void>
}

/** Changes labels at the network. Rejects when the network does not confirm; then the change may have happened or not. */
export type NetworkLabels = {
  /** Resolves when all changes that the network has made until now are stored. Rejects for an account without labels. */
  refresh(): Promise<void>
  /** Creates the label, or gives it another name. */
  name(labelId: string, name: string): Promise<void>
  /** Sets or removes the label of a chat. */
  mark(labelId: string, chat: Jid, isLabelled: boolean): Promise<void>
}

/** More labels than this WhatsApp does not take. */
export const mostLabels = 20

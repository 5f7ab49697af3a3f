// What the network tells of the time before: the messages that the owner's phone keeps of its chats.

import type { Chat } from '../address.ts'
import type { InstanceName, Jid } from '../ids.ts'
import type { MessageKey, NetworkEvent } from '../message.ts'

/** A message on the phone. The phone is asked for the messages before it. `at` is in epoch milliseconds. */
export type Anchor = { key: MessageKey; at: number }

/** `position` is the place in the chat, as the phone counts it. It orders events of the same second. */
export type PastEvent = { event: NetworkEvent; position: number }

/** Some of the messages of a chat, in any order. `jid` is the address under which the phone keeps the chat. */
export type PastChat = {
  jid: Jid
  chat: Chat
  events: readonly PastEvent[]
  /** How many messages came that are not among the events, because they are too old or say nothing to agents. */
  leftOut: number
  /** The oldest message that came, also when it is left out. Null when none came. */
  oldest: Anchor | null
}

/** pairing: sent because the account was linked; request: sent because we asked for older messages of a chat. */
export type PastCause = 'pairing' | 'request'

/** Listens to the history that the phone sends. */
export type HistoryReception = {
  /** Events before that time are left out; epoch milliseconds. Null when nothing of the history is kept. */
  keepsSince(instance: InstanceName, cause: PastCause): number | null
  /**
   * Resolves when the events are stored. The network reads the next piece only then, so that its memory stays small. A piece
   * may come again, also after a restart.
   */
  onPastEvents(instance: InstanceName, cause: PastCause, chats: readonly PastChat[]): Promise<void>
  /** A file of the history of a pairing is read to its end. `isLast`: the phone says that no other one follows. */
  onPastProgress(instance: InstanceName, progress: { isLast: boolean }): void
}

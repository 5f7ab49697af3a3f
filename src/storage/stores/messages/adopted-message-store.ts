// Stores the messages that another bridge brought to the helpdesk in the message map, so that quotes, reactions, edits and
// deletions find them.

import type { RowId } from '../../../core/ids.ts'
import type { MessageKey } from '../../../core/message.ts'
import type { Hold } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import { placeOf } from '../../engine/statement.ts'
import { messageMapSecrets } from '../../schema/messages.ts'
import { createFence } from '../fence.ts'
import type { Fence } from '../fence.ts'
import type { MappedMessage, MessageIdentity, PostedAs } from './message-map-store.ts'

/** The sender of a message of a group, when the other bridge did not store who wrote it. */
export const unknownSender = 'unknown'

/** Whether a stored sender can be this one. */
export function mayBeSender(stored: string, sender: string): boolean {
  return stored === sender || stored === unknownSender
}

/** Where the helpdesk has the message, if another bridge posted it and did not store who wrote it. */
export function findAdopted(known: readonly MappedMessage[], identity: MessageIdentity): PostedAs | undefined {
  const { destination, chat, networkId, kind } = identity
  for (const { conversationId, messageId, ...row } of known) {
    const isIt = row.networkId === networkId && row.sender === unknownSender && row.kind === kind
    if (!isIt || row.destination !== destination || row.chat !== chat) continue
    if (conversationId !== null && messageId !== null) return { conversationId, messageId }
  }
  return undefined
}

export type AdoptedMessage = Omit<MessageIdentity, 'kind'> & {
  id: RowId
  direction: 'in' | 'echo'
  networkKey: MessageKey
  /** When it was written; epoch milliseconds. */
  at: number
  conversationId: number
  messageId: number
  /** What a quote of it shows. */
  text: string
}

const identity = ['instance', 'destination', 'chat', 'sender', 'network_id', 'kind'] as const

export class AdoptedMessageStore {
  readonly #database: Database
  readonly #fence: Fence

  constructor(database: Database) {
    this.#database = database
    this.#fence = createFence(database)
  }

  /** A message that the map has stays as it is. All messages count as read. */
  async save(hold: Hold, messages: readonly AdoptedMessage[], now: number): Promise<void> {
    if (messages.length === 0) return
    const insert = this.#database.query
      .insertInto('message_map')
      .values(messages.map((message) => rowOf(message, now)))
      .onConflict((conflict) => conflict.columns(identity).doNothing())
    await this.#database.write(this.#fence(hold), insert)
  }
}

function rowOf(message: AdoptedMessage, now: number) {
  const { id, instance, destination, chat, sender, networkId, direction, networkKey, at, text } = message
  return {
    ...{ id, instance, destination, chat, sender, direction, network_id: networkId, kind: 'message' },
    network_key: JSON.stringify(networkKey),
    network_at: at,
    conversation_id: message.conversationId,
    message_id: message.messageId,
    // Later code takes the newest claims of a chat for its newest messages.
    claimed_at: Math.min(at, now),
    posting_since: null,
    posting_after: null,
    read_at: now,
    content: {
      seal: Buffer.from(JSON.stringify({ text })),
      place: placeOf(messageMapSecrets.table, [id], 'content'),
    },
  }
}

// Marks the conversations that get messages of the history, so that the service sends nothing from them by mistake.

import type { ChatId, DestinationKey, InstanceName } from '../../../core/ids.ts'
import type { Hold, NodeHold } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import { createFence } from '../fence.ts'
import type { Fence } from '../fence.ts'

type ConversationId = { destination: DestinationKey; conversationId: number }
type ImportedChat = ConversationId & { instance: InstanceName; chat: ChatId }

export class ImportMarks {
  readonly #database: Database
  readonly #fence: Fence

  constructor(database: Database) {
    this.#database = database
    this.#fence = createFence(database)
  }

  /** An import into the conversation begins. `isHistory`: the conversation holds nothing but the history. */
  async begin(
    hold: Hold,
    { destination, conversationId, instance, chat }: ImportedChat,
    { isHistory, now }: { isHistory: boolean; now: number },
  ): Promise<void> {
    const marks = { is_importing: 1, ...(isHistory && { is_history: 1 }) }
    const row = { destination, conversation_id: conversationId, instance, chat, wrote_at: 0, used_at: now }
    const insert = this.#database.query
      .insertInto('conversation_chats')
      .values({ ...row, ...marks })
      .onConflict((conflict) =>
        conflict.columns(['destination', 'conversation_id', 'instance', 'chat']).doUpdateSet(marks),
      )
    await this.#database.write(this.#fence(hold), insert)
  }

  /**
   * Ends the imports that no job goes on with: the job was deleted, or the database comes from a backup. Otherwise their
   * conversations would stay closed. A cancelled job ends its imports itself, after it has resolved their conversations:
   * Chatwoot answers that with a survey, which must not be sent.
   */
  async endAbandoned(hold: NodeHold, now: number): Promise<void> {
    const update = this.#database.query
      .updateTable('conversation_chats')
      .set({ is_importing: null, import_ended_at: now })
      .where('is_importing', '=', 1)
      .where((marked) => {
        const ofInstance = marked
          .selectFrom('jobs')
          .innerJoin('import_chats', 'import_chats.job_id', 'jobs.id')
          .select('jobs.id')
          .whereRef('jobs.instance', '=', 'conversation_chats.instance')
          .where('import_chats.state', '<>', 'done')
        const unfinished = ofInstance.where((chat) =>
          chat.or([
            // Two records of the person may have become one meanwhile.
            chat('import_chats.conversation_id', '=', chat.ref('conversation_chats.conversation_id')),
            chat.and([
              chat('import_chats.chat', '=', chat.ref('conversation_chats.chat')),
              chat('jobs.status', 'in', ['pending', 'running']),
            ]),
          ]),
        )
        return marked.not(marked.exists(unfinished))
      })
    await this.#database.write(this.#fence(hold), update)
  }

  /** The import into the conversation has ended. */
  async end(hold: Hold, { destination, conversationId }: ConversationId, now: number): Promise<void> {
    const update = this.#database.query
      .updateTable('conversation_chats')
      .set({ is_importing: null, import_ended_at: now })
      .where('destination', '=', destination)
      .where('conversation_id', '=', conversationId)
      .where('is_importing', '=', 1)
    await this.#database.write(this.#fence(hold), update)
  }
}

// The words of a running import: the chat that is imported.

import type { HistoryJob } from '../../core/jobs/job.ts'
import type { ChatContact } from '../../bridge/conversations/conversation-directory.ts'
import type { OpenConversation } from '../../bridge/conversations/conversation-memory.ts'
import type { ImportChat } from '../../storage/stores/history/import-store.ts'

/** A chat whose messages are being posted. */
export type ChatWork = {
  job: HistoryJob
  chat: ImportChat
  /** The chat as it is known now: two records of a person may become one meanwhile. */
  contact: ChatContact
  /** The time of the oldest message that has no outcome yet. */
  oldestAt: number
  /** The conversation of `chat.place`, when messages may be posted into it. */
  conversation?: OpenConversation | undefined
}

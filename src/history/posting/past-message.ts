// A message of the history on its way to the helpdesk, and where it goes.

import type { OpenConversation } from '../../bridge/conversations/conversation-memory.ts'
import type { HelpdeskTarget } from '../../bridge/conversations/conversation-opener.ts'
import type { Destination } from '../../core/downstream.ts'
import type { InstanceName, NetworkMessageId } from '../../core/ids.ts'
import type { Statement } from '../../storage/engine/statement.ts'
import type { HistoryRow } from '../../storage/stores/history/history-store.ts'

export type PastMessage = Pick<HistoryRow, 'id' | 'event'>

export type PastInto = {
  instance: InstanceName
  jobId: string
  target: HelpdeskTarget
  /** Asked only for a message that must be posted, and just before that. */
  conversation: () => Promise<OpenConversation>
  /** Files of messages since that time are fetched; null: none. Epoch milliseconds. */
  mediaSince: number | null
}

/** How agents learn when an imported message was written. */
export type PastDates = {
  /** Stands at the head of the text; null where the helpdesk shows the true date. Rejects with a DownstreamError. */
  headOf(message: { instance: InstanceName; destination: Destination; at: number }): Promise<string | null>
  /** Statements that have the date of a posted message corrected; none where dates are not corrected. */
  stepsOf(posted: DatedPost): readonly Statement[]
}

/** A posted message, and when it was written; epoch milliseconds. */
export type DatedPost = {
  destination: Destination
  conversationId: number
  messageId: number
  sourceId: NetworkMessageId
  at: number
}

// The words of a running import: the chat that is imported, and the parts of other rooms that the import uses.

import type { Destination, HelpdeskInbox } from '../../core/downstream.ts'
import type { HistoryJob } from '../../core/jobs/job.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { ChatContact, OpenConversation } from '../../bridge/conversations/conversation-directory.ts'
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

/** Says to which helpdesk inbox an instance delivers, and waits while that helpdesk inbox is held. */
export type Destinations = {
  waitForTarget(
    instance: InstanceName,
    rest: <T>(wait: () => Promise<T>) => Promise<T>,
    signal: AbortSignal,
  ): Promise<{ destination: Destination; helpdesk: HelpdeskInbox; hasProbed: boolean }>
  /** The helpdesk inbox takes nothing: every delivery to it waits until a probe succeeds. */
  hold(instance: InstanceName, destination: Destination, reason: string): void
}

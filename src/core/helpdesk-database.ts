// The port to the database of the helpdesk: for what the API of the helpdesk cannot change.

import type { InboxAccess } from './downstream.ts'

/** A posted message begins with `from`. It is to begin with `to`. */
export type HeaderChange = { messageId: number; sourceId: string; from: string; to: string }

/** `current` are the ids of the messages that begin with the new header now. This call changed `changed` of them. */
export type HeaderChanges = { current: readonly number[]; changed: number }

/** The database of the helpdesk did not do what was asked. Nothing was changed, unless its answer was lost. */
export class HelpdeskDatabaseError extends Error {
  constructor(reason: string, options?: { cause: unknown }) {
    super(reason, options)
    this.name = 'HelpdeskDatabaseError'
  }
}

export type HelpdeskDatabase = {
  /** Whether the helpdesk at this address keeps its data in this database. */
  serves(access: Pick<InboxAccess, 'baseUrl'>): boolean
  /**
   * Changes how messages of one helpdesk inbox begin. A message that does not begin with its old header any more stays as it
   * is. Rejects with a HelpdeskDatabaseError.
   */
  rewriteHeaders(
    inbox: Pick<InboxAccess, 'accountId' | 'inboxId'>,
    changes: readonly HeaderChange[],
  ): Promise<HeaderChanges>
  [Symbol.asyncDispose](): Promise<void>
}

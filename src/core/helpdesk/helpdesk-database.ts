// The port to the database of the helpdesk: for what the API of the helpdesk cannot change.

import type { InboxAccess } from '../downstream.ts'

/** A posted message begins with `from`. It is to begin with `to`. */
export type HeaderChange = { messageId: number; sourceId: string; from: string; to: string }

/** `current` are the ids of the messages that begin with the new header now. This call changed `changed` of them. */
export type HeaderChanges = { current: readonly number[]; changed: number }

/** A posted message, and when it was written, in milliseconds. */
export type DatedMessage = { messageId: number; sourceId: string; at: number }

/**
 * `corrected` are the ids of the messages that have the right date now. `missing` are those that the helpdesk does not have in
 * this inbox, or not with this source id. A message in neither list is in use: it can be corrected later.
 */
export type Backdated = { corrected: readonly number[]; missing: readonly number[] }

/** Which installation of the helpdesk has this base URL. */
export function installationAt(baseUrl: string): string {
  const { origin, pathname } = new URL(baseUrl)
  return `${origin}${pathname.replace(/\/$/, '')}`
}

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
  /**
   * Gives messages of one helpdesk inbox, their attachments and their conversations the dates at which they were written.
   * Rejects with a HelpdeskDatabaseError.
   */
  backdate(inbox: Pick<InboxAccess, 'accountId' | 'inboxId'>, dates: readonly DatedMessage[]): Promise<Backdated>
  [Symbol.asyncDispose](): Promise<void>
}

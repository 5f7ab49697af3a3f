// What is known of the history in a conversation at the helpdesk, and for how long nothing is sent from the conversation.

/**
 * `isHistory`: the conversation holds nothing but the history of its chat. `isImporting`: messages of the history are being
 * posted into it. `endedAt`: when the last import into it ended.
 */
export type ImportState = { isHistory: boolean; isImporting: boolean; endedAt: number | null }

/**
 * What the helpdesk itself says of a conversation that the service created for an import.
 * history  it holds nothing but the history of its chat
 * chat     it is the conversation of its chat
 */
export type CreatedFor = 'history' | 'chat'

/** Bots and rules of the helpdesk may answer the last imported messages that late. */
export const quietAfterImportMs = 60_000

/** Whether messages of the history are being posted into the conversation, or were a moment ago. */
export function isUnderImport({ isImporting, endedAt }: Omit<ImportState, 'isHistory'>, now: number): boolean {
  // A time in the future was stored before the clock was put back. The end of the import counts as now.
  return isImporting || (endedAt !== null && now - endedAt < quietAfterImportMs)
}

// Says why a message is not sent because of the history in its conversation.
//
// Imported messages of customers reach the bots and rules of the helpdesk like new ones, and they answer. No customer must get
// an answer to a message of last month. So nothing is sent while a conversation is under import, nor for a minute after it. In a
// conversation that holds only history, messages of bots and rules are never sent.

import type { WrittenMessage } from '../../../core/helpdesk/callback.ts'
import { isUnderImport } from '../../../core/history/import-state.ts'
import type { ImportState } from '../../../core/history/import-state.ts'
import { writeReason } from '../../../core/reasons/reason.ts'

export const importedReason = writeReason('historyImported')
export const historyOnlyReason = writeReason('historyOnly')

/** `history_import`: Retry works later. `history_conversation`: the message is never sent. */
export type ImportRefusal = { code: 'history_import' | 'history_conversation'; reason: string }

/** Between the creation of a conversation and our note that its import begins. A lost answer is searched for 20 s. */
const beginningMs = 5 * 60_000

/** Undefined when the history in the conversation is no reason to refuse the message. */
export function importRefusal(
  message: Pick<WrittenMessage, 'conversation' | 'isByPerson' | 'writtenAt'>,
  state: ImportState,
  now: number,
): ImportRefusal | undefined {
  const { conversation, isByPerson } = message
  const isHistory = state.isHistory || conversation.createdFor === 'history'
  if (isHistory && !isByPerson) return { code: 'history_conversation', reason: historyOnlyReason }
  const mustWait = isUnderImport(state, now) || (!isByPerson && isBeginning(message, state))
  return mustWait ? { code: 'history_import', reason: importedReason } : undefined
}

/** A rule of the helpdesk may answer the creation of a conversation before we have noted that an import into it begins. */
function isBeginning(
  { conversation, writtenAt }: Pick<WrittenMessage, 'conversation' | 'writtenAt'>,
  state: ImportState,
) {
  const { createdFor, createdAt } = conversation
  if (createdFor === undefined || state.isImporting || state.endedAt !== null) return false
  return createdAt === undefined || writtenAt === null || writtenAt - createdAt < beginningMs
}

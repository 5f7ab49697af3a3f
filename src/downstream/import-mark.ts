// Marks the conversations that the service creates for an import. Chatwoot keeps the mark as long as the conversation, and
// shows it in lists and in callbacks. So such a conversation is known even when our database has lost it.

import type { CreatedFor } from '../core/history/import-state.ts'
import { asObject, asText } from './json-values.ts'

const kindName = 'imported_history'
const markName = 'import'
const kinds: readonly unknown[] = ['history', 'chat'] satisfies CreatedFor[]

/** `mark` is different for every conversation that is created for an import. */
export type ImportMark = { createdFor: CreatedFor; mark: string | null }

/** The `additional_attributes` with which such a conversation is created. Chatwoot takes them only then. */
export function importMark({ createdFor, mark }: ImportMark): Record<string, string | null> {
  return { [kindName]: createdFor, [markName]: mark }
}

/** Null for a conversation without the mark. */
export function readImportMark(additionalAttributes: unknown): ImportMark | null {
  const { [kindName]: kind, [markName]: mark } = asObject(additionalAttributes)
  return kinds.includes(kind) ? { createdFor: kind as CreatedFor, mark: asText(mark) } : null
}

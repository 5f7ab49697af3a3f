// What Chatwoot takes, and how late it may still act.

import type { DownstreamLimits } from '../core/downstream.ts'

/** The most characters of one message. */
export const maxCharacters = 150_000

/** The most files of one message. */
export const maxFiles = 15

export const chatwootLimits: DownstreamLimits = {
  // Breaking up Liquid can double the length of an outgoing text.
  textLength: { incoming: maxCharacters, activity: maxCharacters, outgoing: maxCharacters / 2 },
  // Chatwoot may commit up to 15 s after it has the whole request, also when the caller has stopped waiting.
  lateCommitMs: 20_000,
}

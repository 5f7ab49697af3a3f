// What Chatwoot takes, and how late it may still act.

import type { DownstreamLimits } from '../core/downstream.ts'
import { isLongerThan } from '../lib/text/is-longer-than.ts'
import { breakUpLiquid } from './liquid.ts'

/** The most characters of one message. */
export const maxCharacters = 150_000

/** The most files of one message. */
export const maxFiles = 15

/** Chatwoot counts characters, not UTF-16 units. */
export function isTooLong(content: string): boolean {
  return isLongerThan(maxCharacters, content)
}

export const chatwootLimits: DownstreamLimits = {
  fits: (text, type) => !isTooLong(type === 'outgoing' ? breakUpLiquid(text) : text),
  // Breaking up Liquid can double the length of an outgoing text.
  safeLength: maxCharacters / 2,
  // Chatwoot may commit up to 15 s after it has the whole request, also when the caller has stopped waiting.
  lateCommitMs: 20_000,
}

// Says why a message, or which of its parts, was not sent.

import type { OutboxPart } from '../../../core/outbox.ts'
import { writeReason } from '../../../core/reasons/reason.ts'

export const unconfirmed = writeReason('unconfirmed')

/** `otherwise` is the reason for parts that have no reason of their own. */
export function failureReason(parts: readonly OutboxPart[], otherwise: string): string {
  const numbersOf = new Map<string, number[]>()
  for (const [index, part] of parts.entries()) {
    if (part.state === 'sent') continue
    const reason = reasonOf(part) ?? otherwise
    numbersOf.set(reason, [...(numbersOf.get(reason) ?? []), index + 1])
  }
  const [first, ...others] = [...numbersOf]
  if (!first) return otherwise
  if (others.length === 0 && first[1].length === parts.length) return first[0]
  return [first, ...others].map(([reason, numbers]) => ofParts(numbers, parts.length, reason)).join('; ')
}

function reasonOf({ state, refusal }: OutboxPart): string | undefined {
  return state === 'unknown' ? unconfirmed : refusal
}

function ofParts(numbers: readonly number[], count: number, reason: string): string {
  return writeReason(numbers.length > 1 ? 'parts' : 'part', { numbers: numbers.join(', '), count, reason })
}

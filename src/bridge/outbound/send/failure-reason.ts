// Says why a message, or which of its parts, was not sent.

import type { OutboxPart } from '../../../core/outbox.ts'

export const unconfirmed = 'delivery could not be confirmed: look on the phone before you send it again'

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
  return [first, ...others].map(([reason, numbers]) => `${named(numbers)} of ${parts.length}: ${reason}`).join('; ')
}

function reasonOf({ state, refusal }: OutboxPart): string | undefined {
  return state === 'unknown' ? unconfirmed : refusal
}

function named(numbers: readonly number[]): string {
  return `part${numbers.length > 1 ? 's' : ''} ${numbers.join(', ')}`
}

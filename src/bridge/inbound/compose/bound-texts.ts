// Cuts the texts of a value, so that converting them takes a limited time. A sender chooses how long a name, a question or an
// address is, and how many of them there are.

import { beginningOf } from '../../../lib/text/beginning-of.ts'

/** How many characters a single text may have, and all texts together. */
type Bounds = { each: number; all: number }

/** An empty item is also written: with marks and line breaks around it. */
const perItem = 10

/** Texts beyond the bounds are shorter or empty, and lists end early. Numbers and the shape of objects stay. */
export function boundTexts<T>(value: T, { each, all }: Bounds): T {
  let left = all
  const bound = (part: unknown): unknown => {
    if (typeof part === 'string') {
      const kept = beginningOf(part, Math.min(each, left))
      left -= kept.length
      return kept
    }
    if (Array.isArray(part)) return boundList(part)
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, bound(inner)]))
  }
  const boundList = (list: readonly unknown[]): unknown[] => {
    const kept: unknown[] = []
    for (const item of list) {
      left -= perItem
      if (left < 0) break
      kept.push(bound(item))
    }
    return kept
  }
  return bound(value) as T
}

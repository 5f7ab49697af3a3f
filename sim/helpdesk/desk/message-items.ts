// Checks the items of interactive messages: lists of choices, cards, forms and articles.

import type { Attributes } from '../state/rows.ts'
import { unprocessable } from './rails-error.ts'

const itemKeys: Record<string, readonly string[]> = {
  input_select: ['title', 'value'],
  cards: ['title', 'description', 'media_url', 'actions'],
  form: ['type', 'placeholder', 'label', 'name', 'options', 'default', 'required', 'pattern', 'title', 'pattern_error'],
  article: ['title', 'description', 'link'],
}

/** Returns the sentence of the validation, or undefined for good items. Missing items crash Chatwoot's validator. */
export function findItemProblem(contentType: string, { items }: Attributes): string | undefined {
  const known = itemKeys[contentType]
  if (!known) return undefined
  if (!Array.isArray(items)) throw unprocessable("undefined method 'reject' for nil")
  const unknown = new Set(items.flatMap((item: object) => Object.keys(item)).filter((key) => !known.includes(key)))
  if (unknown.size === 0) return undefined
  return `Content attributes contains invalid keys for items : [${[...unknown].map((key) => `:${key}`).join(', ')}]`
}

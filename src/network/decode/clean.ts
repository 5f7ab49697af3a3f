// Removes what a sender can put into a message but storage and the helpdesk refuse.
//
// PostgreSQL and Chatwoot refuse a zero character. An id of any length does not fit an index.

import { createHash } from 'node:crypto'
import type { Content, NetworkEvent } from '../../core/message.ts'

const longestId = 255
const longestName = 255
const names = new Set(['pushName', 'subject'])

export function cleanText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '') : text
}

/** Cleans the name of a person or a group. */
export function cleanName(name: string): string {
  const clean = cleanText(name)
  if (clean.length <= longestName) return clean
  return Array.from(clean.slice(0, 2 * longestName))
    .slice(0, longestName)
    .join('')
}

/** A long id becomes its hash, so different ids stay different and references still match. */
export function cleanId(id: string): string {
  const clean = cleanText(id)
  return clean.length <= longestId ? clean : createHash('sha256').update(clean).digest('hex')
}

export function cleaned<Value extends NetworkEvent | Content>(value: Value): Value {
  return clean(value, '') as Value
}

function clean(value: unknown, key: string): unknown {
  if (typeof value === 'string')
    return key === 'id' ? cleanId(value) : names.has(key) ? cleanName(value) : cleanText(value)
  if (Array.isArray(value)) return value.length === 0 ? (value as unknown[]) : value.map((each) => clean(each, ''))
  if (typeof value !== 'object' || value === null) return value
  return cleanFields(value as Record<string, unknown>)
}

/** Returns a copy only when there is something to clean. */
function cleanFields(value: Record<string, unknown>): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined
  for (const name of Object.keys(value)) {
    const each = value[name]
    const kept = clean(each, name)
    if (kept === each) continue
    copy ??= { ...value }
    copy[name] = kept
  }
  return copy ?? value
}

// What strangers may put into a message and nobody behind us takes: a zero character is refused by PostgreSQL and by the
// helpdesk, an endless id fits no index.

import { createHash } from 'node:crypto'
import type { Content, NetworkEvent } from '../../core/message.ts'

const longestId = 255
const longestName = 255
const names = new Set(['pushName', 'subject'])

export function cleanText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '') : text
}

/** Of a person or a group. */
export function cleanName(name: string): string {
  const clean = cleanText(name)
  if (clean.length <= longestName) return clean
  return Array.from(clean.slice(0, 2 * longestName))
    .slice(0, longestName)
    .join('')
}

/** Different ids stay different, and what refers to one still does. */
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
  if (Array.isArray(value)) return value.map((each) => clean(each, ''))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, clean(each, name)]))
}

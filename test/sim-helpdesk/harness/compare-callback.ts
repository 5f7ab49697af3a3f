// Compares a callback of the simulator with a recorded one: keys, types, and the values that carry a meaning.

import { isFields } from './recordings.ts'
import type { Fields } from './recordings.ts'

/** Values that differ from run to run. Their type counts, and whether they are null, empty or zero. */
const changing = new Set([
  ...['id', 'contact_id', 'inbox_id', 'account_id', 'conversation_id', 'message_id', 'sender_id', 'assignee_id'],
  ...['in_reply_to', 'automation_rule_id', 'created_at', 'updated_at', 'last_activity_at', 'timestamp'],
  ...['waiting_since', 'agent_last_seen_at', 'contact_last_seen_at', 'first_reply_created_at', 'previous_value'],
  ...['current_value', 'pubsub_token', 'email', 'data_url', 'thumb_url', 'file_size', 'unread_count'],
  // The simulator renders Liquid before it stores the text, so it does not know the raw text any more.
  'processed_message_content',
])

/** Chatwoot tells an agent's presence or null, as it happens to know. */
const free = new Set(['availability_status'])

/** A recorded object with one of these keys is whole. The recorder shortened all others. */
const whole = ['can_reply', 'pubsub_token', 'sentiment', 'content_type', 'thumbnail', 'available_name', 'is_private']

type Options = { except?: readonly string[] }

/** Returns the differences, each as a sentence. `except` names paths whose values depend on the moment or the test. */
export function differences(recorded: Fields, got: unknown, { except = [] }: Options = {}): string[] {
  return compare(recorded, got, '').filter((each) => !except.some((path) => each.startsWith(path)))
}

function compare(recorded: unknown, got: unknown, path: string): string[] {
  const key =
    path
      .split('.')
      .at(-1)
      ?.replace(/\[\d+\]$/, '') ?? ''
  if (free.has(key)) return []
  if (Array.isArray(recorded)) return compareLists(recorded, got, path)
  if (isFields(recorded)) return compareObjects(recorded, got, path)
  if (changing.has(key)) return kindOf(recorded) === kindOf(got) ? [] : [say(path, recorded, got)]
  return recorded === got ? [] : [say(path, recorded, got)]
}

function compareLists(recorded: unknown[], got: unknown, path: string): string[] {
  if (!Array.isArray(got) || got.length !== recorded.length) return [say(path, recorded, got)]
  const actual: unknown[] = path.endsWith('changed_attributes') ? inOrderOf(recorded, got) : got
  return recorded.flatMap((item, at) => compare(item, actual[at], `${path}[${at}]`))
}

/** The order of the changed attributes means nothing. */
function inOrderOf(recorded: unknown[], got: unknown[]): unknown[] {
  const name = (item: unknown) => (isFields(item) ? Object.keys(item)[0] : undefined)
  return recorded.map((item, at) => got.find((other) => name(other) === name(item)) ?? got[at])
}

function compareObjects(recorded: Fields, got: unknown, path: string): string[] {
  if (!isFields(got)) return [say(path, recorded, got)]
  const inside = (key: string) => (path === '' ? key : `${path}.${key}`)
  const missing = Object.entries(recorded).flatMap(([key, value]) =>
    key in got ? compare(value, got[key], inside(key)) : [`${inside(key)}: is missing`],
  )
  const isWhole = whole.some((key) => key in recorded)
  const extra = isWhole ? Object.keys(got).filter((key) => !(key in recorded)) : []
  return [...missing, ...extra.map((key) => `${inside(key)}: is too much`)]
}

function kindOf(value: unknown): string {
  if (value === null || value === 0 || value === '') return JSON.stringify(value)
  return typeof value
}

function say(path: string, recorded: unknown, got: unknown): string {
  return `${path}: recorded ${JSON.stringify(recorded)}, got ${JSON.stringify(got)}`
}

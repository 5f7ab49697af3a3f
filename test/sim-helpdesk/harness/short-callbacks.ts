// Callbacks in the short form of the recordings: the event, who wrote what, the status and the changed attributes.

import assert from 'node:assert/strict'
import type { Json } from './desk-client.ts'
import { recordingOf } from './recordings.ts'
import type { Fields } from './recordings.ts'

/** A callback in the short form of the recordings. */
export function short({
  event,
  message_type,
  content,
  private: isPrivate,
  sender,
  content_attributes,
  ...rest
}: Fields) {
  const changed = (rest['changed_attributes'] as Fields[] | null | undefined)?.flatMap((each) => Object.keys(each))
  return {
    event,
    ...(message_type === undefined ? {} : { message_type, content, sender: (sender as Json | null)?.['name'] ?? null }),
    ...(isPrivate === true ? { private: true } : {}),
    ...(Object.keys(content_attributes ?? {}).length > 0 ? { content_attributes: true } : {}),
    ...(rest['status'] === undefined ? {} : { status: rest['status'] }),
    ...(changed ? { changed: changed.filter((each) => !each.includes('label')).toSorted() } : {}),
  }
}

/** The recorded list: names of contacts are replaced, and the order does not count. */
export function recordedShort(what: string, renamed: Record<string, string> = {}): unknown[] {
  const recording = recordingOf('callbacks', what)
  const list = recording['callbacks'] as Fields[]
  const text = Object.entries(renamed).reduce((all, [from, to]) => all.replaceAll(from, to), JSON.stringify(list))
  return (JSON.parse(text) as Fields[]).map((each) => {
    const changed = each['changed_attributes'] as string[] | undefined
    return short({ ...each, ...(changed && { changed_attributes: changed.map((name) => ({ [name]: null })) }) })
  })
}

export function sorted(list: unknown[]): string[] {
  return list.map((each) => JSON.stringify(each)).toSorted()
}

export function assertSame(callbacks: readonly Fields[], what: string, renamed: Record<string, string> = {}): void {
  assert.deepEqual(sorted(callbacks.map(short)), sorted(recordedShort(what, renamed)), what)
}

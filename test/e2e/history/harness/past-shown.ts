// Says what agents are to see of a chat in the archive of a phone.

import assert from 'node:assert/strict'
import type { SeenMessage } from '../../../../sim/helpdesk/snapshots.ts'
import type { SimPhone } from '../../../../sim/network/accounts/sim-phone.ts'
import type { FilledChat } from '../../../../sim/network/past/fill-archive.ts'
import type { PastItem } from '../../../../sim/network/past/past-items.ts'

/** `at` is in Unix seconds. */
export type PastShown = { id: string; at: number; isOwn: boolean; says: string; answers: string | null }

const fileNames = { image: 'photo', document: 'document: past.pdf', voice: 'voice message' } as const

/** Oldest first. A reaction comes after all messages of its second. Agents are not shown their own reactions. */
export function pastShown({ items }: FilledChat, phone: SimPhone): PastShown[] {
  const shown = items.map((item, n) => ({ ...messageOf(item, items[n - 1]), order: item.at * 1000 }))
  const reactions = items.flatMap((item) => {
    if (item.reactions === 0 || !item.isOwn) return []
    const id = phone.archive.find(item.id)?.reactions?.[0]?.key?.id
    assert.ok(id)
    return { id, at: item.at, isOwn: false, says: 'reacted with 👍', answers: item.id, order: item.at * 1000 + 1 }
  })
  const all = [...shown, ...reactions].sort((one, other) => one.order - other.order)
  return all.map(({ id, at, isOwn, says, answers }) => ({ id, at, isOwn, says, answers }))
}

function messageOf({ id, kind, isOwn, text, at }: PastItem, before: PastItem | undefined): PastShown {
  const answers = kind === 'quote' ? (before?.id ?? null) : null
  return { id, at, isOwn, answers, says: saidBy(kind, text) }
}

function saidBy(kind: PastItem['kind'], text: string): string {
  if (kind === 'revoked') return '🗑️ This message was deleted by its sender'
  if (kind !== 'image' && kind !== 'document' && kind !== 'voice') return text
  const placeholder = `📎 ${fileNames[kind]} (only on the phone)`
  return text === '' ? placeholder : `${text}\n\n${placeholder}`
}

/** The message at the helpdesk says what it should, and answers the message that it should. */
export function assertSays(seen: SeenMessage, { at, isOwn, says, answers }: PastShown): void {
  const { content, messageType, contentAttributes, private: isPrivate, files } = seen
  assert.ok(content?.endsWith(says), `${content ?? ''} does not end with ${says}`)
  assert.deepEqual(
    [messageType, isPrivate, files.length, contentAttributes['external_created_at']],
    [isOwn ? 'outgoing' : 'incoming', false, 0, at],
  )
  assert.equal(contentAttributes['in_reply_to_external_id'] ?? null, answers)
}

// Compares the dates in Chatwoot's database with those on the phone.

import assert from 'node:assert/strict'
import { conversationRowId } from '../../../harness/chatwoot-tables.ts'
import type { ChatwootTables } from '../../../harness/chatwoot-tables.ts'
import type { PhoneStage, ShownChat } from './phone-stage.ts'

/** All messages and conversations have the dates of the phone. `except` are the dates of other messages, by their ids. */
export async function assertTrueDates(
  stage: PhoneStage,
  tables: ChatwootTables,
  except: ReadonlyMap<number, number> = new Map(),
): Promise<void> {
  const dates = await tables.dates()
  for (const { imported, expected } of stage.shown()) {
    for (const [n, { id, content }] of imported.entries()) {
      assert.equal(dates[id], except.get(id) ?? expected[n]?.at)
      assert.doesNotMatch(content ?? '', /UTC`/, 'the time is not at the head of the text, too')
    }
  }
  for (const chat of stage.shown()) await assertResolvedInThePast(chat, stage, tables)
}

/** A conversation with a live message is open, and its last activity is that of today. */
async function assertResolvedInThePast(
  { imported, expected }: ShownChat,
  { world }: PhoneStage,
  tables: ChatwootTables,
): Promise<void> {
  const dated = imported.map((message, n) => ({ ...message, at: expected[n]?.at ?? 0 }))
  for (const [id, messages] of Map.groupBy(dated, ({ conversationId }) => conversationId)) {
    const [first, last] = [messages[0], messages.at(-1)]
    assert.ok(first && last)
    const { accountId } = first
    const found = await tables.conversation(conversationRowId({ accountId, id }))
    // The note at the beginning is a second older than the oldest message.
    assert.equal(found.created_at, first.at - 1)
    const [seen] = world.helpdesk.see.conversations((each) => each.id === id)
    if (seen?.status !== 'resolved') continue
    assert.deepEqual([found.last_activity_at, found.waiting_since], [last.at, null])
  }
}

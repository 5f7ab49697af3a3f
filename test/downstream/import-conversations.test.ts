// Conversations for messages of the history: created once, kept apart from live messages, searched for what they have already.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DownstreamError } from '../../src/core/downstream.ts'
import type { PendingSpec } from '../../src/core/helpdesk/conversation.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { DeskClient } from '../sim-helpdesk/harness/desk-client.ts'
import { HelpdeskBed, person, text } from './harness/helpdesk-bed.ts'

const noWait = () => Promise.resolve()

async function pendingSpec({ inbox }: HelpdeskBed, changes: Partial<PendingSpec> = {}): Promise<PendingSpec> {
  const contact = await inbox.ensureContact(person())
  return { contact, mark: 'job-1|chat', isHistory: true, beforeCreation: noWait, ...changes }
}

for (const version of ['3.4', '4.3', '4.14'] as const) {
  describe(`on Chatwoot ${version}`, () => {
    test('a conversation for the history is pending, and the same mark finds it again', async () => {
      await using bed = await HelpdeskBed.start({ helpdesk: { version } })
      const spec = await pendingSpec(bed)
      const made = await bed.inbox.createPending(spec)
      assert.deepEqual([made.status, made.isOwn], ['pending', true])
      assert.equal((await bed.inbox.createPending(spec)).id, made.id)
      assert.notEqual((await bed.inbox.createPending({ ...spec, mark: 'job-2|chat' })).id, made.id)
      bed.helpdesk.assertNothingRefused()
    })

    test('live messages never get the conversation of the history, however they are opened', async () => {
      await using bed = await HelpdeskBed.start({ helpdesk: { version } })
      const spec = await pendingSpec(bed)
      const history = await bed.inbox.createPending(spec)
      const live = await bed.inbox.ensureConversation(spec.contact, 'reopen')
      assert.notEqual(live.id, history.id)
      await bed.inbox.setConversationStatus(live.id, 'resolved')
      await bed.inbox.setConversationStatus(history.id, 'open')
      assert.equal((await bed.inbox.ensureConversation(spec.contact, 'reopen')).id, live.id)
      assert.notEqual((await bed.inbox.ensureConversation(spec.contact, 'new')).id, history.id)
    })

    test('the status of a conversation is set', async () => {
      await using bed = await HelpdeskBed.start({ helpdesk: { version } })
      const { id } = await bed.inbox.createPending(await pendingSpec(bed))
      for (const status of ['resolved', 'resolved', 'open', 'pending'] as const) {
        await bed.inbox.setConversationStatus(id, status)
        assert.equal((await bed.inbox.findConversation(id))?.status, status)
      }
      bed.helpdesk.assertNothingRefused()
    })

    test('a message of the history says when it was written, and its source id is found', async () => {
      await using bed = await HelpdeskBed.start({ helpdesk: { version } })
      const { contact, ...rest } = await pendingSpec(bed)
      const { id } = await bed.inbox.createPending({ contact, ...rest })
      const sentAt = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
      await bed.inbox.post(id, text('hello', { sourceId: 'W1', sentAt }))
      const [row] = bed.helpdesk.messages(id)
      assert.equal(row?.contentAttributes['external_created_at'], Math.floor(sentAt / 1000))
      assert.deepEqual(await bed.inbox.conversationsSince(contact, 0), [id])
      assert.deepEqual(await bed.inbox.sourceIds(id), new Set(['W1']))
    })
  })
}

test('a conversation of the chat that an import has created gets live messages', async () => {
  await using bed = await HelpdeskBed.start()
  const spec = await pendingSpec(bed, { isHistory: false })
  const made = await bed.inbox.createPending(spec)
  assert.equal((await bed.inbox.ensureConversation(spec.contact, 'new')).id, made.id)
})

test('a lost answer leaves one conversation: it is found, and none is created while it may still appear', async () => {
  const clock = new ManualClock(Date.now())
  await using bed = await HelpdeskBed.start({ downstream: { clock } })
  const spec = await pendingSpec(bed)
  await bed.helpdesk.fault({ kind: 'cut', method: 'POST', path: /conversations$/, times: 1 })
  await assert.rejects(bed.inbox.createPending(spec), DownstreamError)
  await assert.rejects(bed.inbox.createPending(spec), /looking for it/)
  assert.equal(bed.helpdesk.see.conversations().length, 0)
  await bed.helpdesk.fault({ kind: 'cut', afterCommit: true, method: 'POST', path: /conversations$/, times: 1 })
  const other = { ...spec, mark: 'job-2|chat' }
  await assert.rejects(bed.inbox.createPending(other), DownstreamError)
  assert.equal((await bed.inbox.createPending(other)).isOwn, true)
  assert.equal(bed.helpdesk.see.conversations().length, 1)
  await clock.advance(20_000)
  assert.equal((await bed.inbox.createPending(spec)).isOwn, true)
  assert.equal(bed.helpdesk.see.conversations().length, 2)
})

test('the caller stores that it begins before a conversation is created, and may refuse', async () => {
  await using bed = await HelpdeskBed.start()
  const refused = () => Promise.reject(new Error('not now'))
  await assert.rejects(bed.inbox.createPending(await pendingSpec(bed, { beforeCreation: refused })), /not now/)
  assert.equal(bed.helpdesk.see.conversations().length, 0)
})

test('an inbox that is locked to one conversation gives the last one back, and the caller is told', async () => {
  await using bed = await HelpdeskBed.start()
  await new DeskClient(bed.helpdesk).patch('/inboxes/1', { lock_to_single_conversation: true })
  const spec = await pendingSpec(bed)
  const { id } = await bed.inbox.ensureConversation(spec.contact, 'new')
  const given = await bed.inbox.createPending(spec)
  assert.deepEqual([given.id, given.isOwn], [id, false])
})

test('conversations are listed across pages, those of agents too, and old ones are left out', async () => {
  const clock = new ManualClock(Date.now())
  await using bed = await HelpdeskBed.start({ helpdesk: { clock } })
  const { contact, ...rest } = await pendingSpec(bed)
  await bed.inbox.createPending({ contact, ...rest, mark: 'old' })
  await clock.advance(10 * 86_400_000)
  const since = clock.now()
  const ids: number[] = []
  for (let index = 0; index < 30; index++) {
    ids.push((await bed.inbox.createPending({ contact, ...rest, mark: `job-${index}` })).id)
  }
  await clock.advance(1000)
  const agent = new DeskClient(bed.helpdesk, bed.helpdesk.world.addAgent({ name: 'Ana', inboxIds: [1] }).token)
  const message = { content: 'Hi' }
  ids.push((await agent.post('/conversations', { inbox_id: 1, contact_id: contact.id, message })).body.id)
  const listed = await bed.inbox.conversationsSince(contact, since)
  assert.deepEqual(listed.toSorted(byNumber), ids.toSorted(byNumber))
})

test('source ids are found in a long conversation whose dates were corrected', async () => {
  await using bed = await HelpdeskBed.start({ helpdesk: { version: '4.14', messagesPerMinute: 100_000 } })
  const { id } = await bed.inbox.createPending(await pendingSpec(bed))
  const count = 2100
  for (let from = 0; from < count; from += 50) {
    const some = Array.from({ length: 50 }, (_, index) => text('x', { sourceId: `W${from + index}` }))
    const posted = await Promise.all(some.map((each) => bed.inbox.post(id, each)))
    // The later a message was posted, the older it is.
    for (const { id: messageId } of posted) bed.helpdesk.world.backdate(messageId, Date.now() - messageId * 60_000)
  }
  const before = bed.helpdesk.requests.length
  assert.equal((await bed.inbox.sourceIds(id)).size, count)
  assert.ok(bed.helpdesk.requests.length - before < 20, 'the number of requests is linear in the number of messages')
})

test('a conversation that is gone has no source ids', async () => {
  await using bed = await HelpdeskBed.start()
  assert.equal((await bed.inbox.sourceIds(4711)).size, 0)
})

function byNumber(one: number, other: number): number {
  return one - other
}

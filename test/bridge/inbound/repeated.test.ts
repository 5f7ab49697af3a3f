// The network delivers a message again that is at the helpdesk already.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { engines } from '../../harness/databases.ts'
import { BridgeBed, message } from './harness/bridge-bed.ts'
import { eventAbout } from './harness/event-about.ts'

const group = { kind: 'group' as const, id: '120363000000000001' }

/** One message that was posted a while ago. */
async function postedBed(
  changes: Parameters<typeof message>[1] = {},
  options: Parameters<typeof BridgeBed.open>[0] = {},
) {
  const bed = await BridgeBed.open(options)
  const first = message('first', changes)
  await bed.receive(first)
  await bed.posted(1)
  await bed.drained()
  await bed.pass(61_000)
  return { bed, first, [Symbol.asyncDispose]: () => bed[Symbol.asyncDispose]() }
}

/** The calls that the repeats cause. */
async function callsOfRepeat(bed: BridgeBed, ...events: Parameters<BridgeBed['receive']>[0][]) {
  const before = bed.helpdesk.calls.length
  for (const event of events) await bed.receive(event)
  await bed.drained()
  return bed.helpdesk.calls.slice(before)
}

const duplicates = async (bed: BridgeBed, kind: string) => {
  const found = new RegExp(`duplicates_total\\{instance="a",kind="${kind}"\\} (\\d+)`).exec(
    await bed.metrics.exposition(),
  )
  return Number(found?.[1] ?? 0)
}

for (const engine of engines) {
  test(`a repeated message opens no conversation after its conversation was resolved, on ${engine}`, async () => {
    await using stage = await postedBed({}, { engine })
    const { bed, first } = stage
    for (const conversation of bed.helpdesk.conversations) conversation.status = 'resolved'
    assert.deepEqual(await callsOfRepeat(bed, first), ['findConversation'])
    assert.equal(bed.helpdesk.conversations.length, 1)
    assert.deepEqual(bed.helpdesk.contents, ['first'])
    assert.equal(await duplicates(bed, 'message'), 1)
  })
}

describe('a repeated message', () => {
  test('makes neither a contact nor a conversation after both were deleted', async () => {
    await using stage = await postedBed()
    const { bed, first } = stage
    bed.helpdesk.conversations.length = 0
    bed.helpdesk.contacts.length = 0
    assert.deepEqual(await callsOfRepeat(bed, first), ['findConversation'])
    assert.deepEqual([bed.helpdesk.conversations.length, bed.helpdesk.contacts.length], [0, 0])
    assert.equal(await duplicates(bed, 'message'), 1)
  })

  test('opens no conversation after a restart', async () => {
    await using stage = await postedBed({ chat: group })
    const { bed, first } = stage
    for (const conversation of bed.helpdesk.conversations) conversation.status = 'resolved'
    await bed.restart()
    await callsOfRepeat(bed, first)
    assert.equal(bed.helpdesk.conversations.length, 1)
  })

  test('that is an edit or a deletion opens none either', async () => {
    await using stage = await postedBed()
    const { bed, first } = stage
    const events = [eventAbout('edit', first), eventAbout('revoke', first)]
    for (const event of events) await bed.receive(event)
    await bed.posted(3)
    await bed.drained()
    bed.helpdesk.conversations.length = 0
    await bed.pass(61_000)
    await callsOfRepeat(bed, ...events)
    assert.equal(bed.helpdesk.conversations.length, 0)
    assert.deepEqual([await duplicates(bed, 'edit'), await duplicates(bed, 'revoke')], [1, 1])
  })

  test('does not stop another member of the group whose message has the same id', async () => {
    await using stage = await postedBed({ id: 'SAME', chat: group, sender: { phone: '551190001', lid: null } })
    const { bed } = stage
    for (const conversation of bed.helpdesk.conversations) conversation.status = 'resolved'
    await bed.receive(message('other', { id: 'SAME', chat: group, sender: { phone: '551190002', lid: null } }))
    await bed.posted(2)
    assert.equal(bed.helpdesk.conversations.length, 2)
  })

  test('is recognised while the first post is still being noted', async () => {
    await using bed = await BridgeBed.open()
    const storageIsBack = await bed.refuseCompletions()
    const first = message('first')
    await bed.receive(first)
    await bed.posted(1)
    bed.helpdesk.conversations.length = 0
    await bed.pass(6000)
    await bed.receive(first)
    await storageIsBack()
    await bed.drained()
    assert.deepEqual([bed.helpdesk.contents, bed.helpdesk.conversations.length], [['first'], 0])
  })
})

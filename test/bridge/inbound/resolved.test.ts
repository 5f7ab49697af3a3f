// What still concerns a conversation that an agent has resolved.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BridgeBed, desk, message } from './harness/bridge-bed.ts'
import { eventAbout } from './harness/event-about.ts'

/** One message whose conversation was resolved a while ago. */
async function resolvedBed(mode: 'new' | 'reopen' = 'new') {
  const bed = await BridgeBed.open({ environment: { SERVICE_CONVERSATION_MODE: mode } })
  const first = message('first')
  await bed.receive(first)
  await bed.posted(1)
  await bed.drained()
  const [conversation] = bed.helpdesk.conversations
  assert.ok(conversation)
  conversation.status = 'resolved'
  await bed.pass(61_000)
  return { bed, first, conversation, [Symbol.asyncDispose]: () => bed[Symbol.asyncDispose]() }
}

test('an edit of a message of the history goes into the conversation of the chat', async () => {
  await using set = await resolvedBed('reopen')
  const { bed, first, conversation } = set
  conversation.isHistory = true
  await bed.receive(eventAbout('edit', first))
  await bed.posted(2)
  assert.notEqual(bed.helpdesk.messages[1]?.conversationId, conversation.id)
})

describe('a conversation that was just resolved', () => {
  /** One message whose conversation was resolved a moment ago. */
  async function justResolved() {
    const bed = await BridgeBed.open({ instances: ['a', 'b'] })
    for (const instance of ['a', 'b']) await bed.receive(message('first'), instance)
    await bed.posted(2)
    await bed.drained()
    for (const conversation of bed.helpdesk.conversations) conversation.status = 'resolved'
    await bed.pass(1500)
    return bed
  }

  test('gets no further message once we heard of it', async () => {
    await using bed = await justResolved()
    for (const { id } of bed.helpdesk.conversations) bed.set.conversations.mayBeResolved(desk.key, id)
    await bed.pass(1)
    for (const instance of ['a', 'b']) await bed.receive(message(`next for ${instance}`), instance)
    await bed.posted(4)
    const [one, other, ...next] = bed.helpdesk.messages.map(({ conversationId }) => conversationId)
    assert.ok(next.every((id) => id !== one && id !== other))
  })

  test('is asked about after five seconds when we did not hear of it', async () => {
    await using bed = await justResolved()
    await bed.receive(message('within'))
    await bed.posted(3)
    assert.equal(bed.helpdesk.messages[2]?.conversationId, bed.helpdesk.messages[0]?.conversationId)
  })

  test('stays in use when it is open again by then', async () => {
    await using bed = await justResolved()
    for (const conversation of bed.helpdesk.conversations) {
      conversation.status = 'open'
      bed.set.conversations.mayBeResolved(desk.key, conversation.id)
    }
    await bed.pass(1)
    await bed.receive(message('next'))
    await bed.posted(3)
    assert.equal(bed.helpdesk.messages[2]?.conversationId, bed.helpdesk.messages[0]?.conversationId)
    const asked = bed.helpdesk.calls.length
    await bed.receive(message('and more'))
    await bed.posted(4)
    assert.ok(!bed.helpdesk.calls.slice(asked).includes('findConversation'))
  })
})

describe('a resolved conversation', () => {
  test('is not opened again by a reaction, and the next message opens another one', async () => {
    await using stage = await resolvedBed()
    const { bed, first, conversation } = stage
    await bed.receive(eventAbout('reaction', first))
    await bed.drained()
    await bed.receive(message('next'))
    await bed.posted(2)
    assert.deepEqual(bed.helpdesk.contents, ['first', 'next'])
    assert.equal(conversation.status, 'resolved')
    assert.notEqual(bed.helpdesk.messages[1]?.conversationId, conversation.id)
    assert.match(
      await bed.metrics.exposition(),
      /realtime_events_total\{feature="reaction",result="no_conv",instance="a"\} 1/,
    )
  })

  test('leaves a reaction to the one that has followed it', async () => {
    await using stage = await resolvedBed()
    const { bed, first, conversation } = stage
    await bed.receive(message('next'))
    await bed.posted(2)
    await bed.drained()
    await bed.receive(eventAbout('reaction', first))
    await bed.posted(3)
    assert.equal(bed.helpdesk.messages[2]?.conversationId, bed.helpdesk.messages[1]?.conversationId)
    assert.equal(conversation.status, 'resolved')
  })

  for (const kind of ['edit', 'revoke'] as const) {
    test(`is where ${kind}s of its messages are told of, also when another one has followed`, async () => {
      await using stage = await resolvedBed()
      const { bed, first, conversation } = stage
      await bed.receive(message('next'))
      await bed.posted(2)
      await bed.drained()
      await bed.receive(eventAbout(kind, first))
      await bed.posted(3)
      const [original, , told] = bed.helpdesk.messages
      assert.deepEqual([told?.conversationId, told?.inReplyTo], [conversation.id, original?.id])
      await bed.receive(message('goes on'))
      await bed.posted(4)
      assert.equal(bed.helpdesk.messages[3]?.conversationId, bed.helpdesk.messages[1]?.conversationId)
      assert.equal(bed.helpdesk.conversations.length, 2)
    })
  }

  test('is used again by each new message in the mode "reopen"', async () => {
    await using stage = await resolvedBed('reopen')
    const { bed, first, conversation } = stage
    await bed.receive(eventAbout('reaction', first))
    await bed.posted(2)
    assert.equal(bed.helpdesk.messages[1]?.conversationId, conversation.id)
  })

  test('that is gone leaves its edits to the chat', async () => {
    await using stage = await resolvedBed()
    const { bed, first } = stage
    bed.helpdesk.conversations.length = 0
    await bed.receive(eventAbout('edit', first))
    await bed.posted(2)
    assert.equal(bed.helpdesk.conversations.length, 1)
  })
})

// What the helpdesk has is noted while the next message of the chat is on its way already.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { MessageEvent } from '../../../src/core/message.ts'
import { BridgeBed, desk, message } from './harness/bridge-bed.ts'
import { eventAbout } from './harness/event-about.ts'

describe('a message that the helpdesk has', () => {
  test('is noted before the one that answers it asks what it answers', async () => {
    await using bed = await BridgeBed.open()
    const events = [message('first')]
    for (let n = 1; n < 10; n++) {
      const { id, sender } = events.at(-1) ?? message('')
      events.push(message(`answer ${n}`, { quote: { id, sender, fromMe: false, text: 'quoted' } }))
    }
    const rows = []
    for (const event of events) rows.push(await bed.store(event))
    bed.set.reception.onReceived('a', rows)
    await bed.posted(events.length)
    const { messages } = bed.helpdesk
    assert.deepEqual(
      messages.map(({ inReplyTo }) => inReplyTo),
      [null, ...messages.slice(0, -1).map(({ id }) => id)],
    )
    await bed.drained()
  })

  test('is noted as an echo if the owner wrote it on the phone', async () => {
    await using bed = await BridgeBed.open()
    await bed.receive(message('from the customer', { id: 'customer' }))
    await bed.receive(message('from the phone', { id: 'phone', fromMe: true }))
    await bed.posted(2)
    await bed.drained()
    const { query } = bed.database
    const noted = await bed.database.read(query.selectFrom('message_map').select(['network_id', 'direction']))
    const directions = Object.fromEntries(noted.map(({ network_id, direction }) => [network_id, direction]))
    assert.deepEqual(directions, { customer: 'in', phone: 'echo' })
  })

  test('is counted until it is off the inbox, and waited for when the instance is let go', async () => {
    await using bed = await BridgeBed.open()
    const hold = Promise.withResolvers<undefined>()
    bed.helpdesk.afterPost = () => hold.promise
    await bed.receive(message('one'))
    await bed.posted(1)
    assert.equal(bed.inbound.counts().pending, 1)
    hold.resolve(undefined)
    await bed.drained()
    await bed.settle()
    assert.equal(bed.inbound.counts().pending, 0)
    bed.helpdesk.afterPost = () => undefined
    await bed.receive(message('two'))
    await bed.posted(2)
    await bed.leave('a')
    assert.equal(await bed.rows(), 0)
  })
})

test('an instance is let go only after storage has answered for the messages that the helpdesk has', async () => {
  await using bed = await BridgeBed.open()
  const { database } = bed
  const write = database.write.bind(database)
  const storage = Promise.withResolvers<undefined>()
  bed.helpdesk.afterPost = () => {
    database.write = async (...steps) => {
      await storage.promise
      return write(...steps)
    }
  }
  await bed.receive(message('one'))
  await bed.posted(1)
  let hasLeft = false
  const left = bed.leave('a').then(() => (hasLeft = true))
  for (let turn = 0; turn < 20; turn++) await bed.clock.advance(0)
  assert.equal(hasLeft, false)
  storage.resolve(undefined)
  await left
  assert.equal(await bed.rows(), 0)
})

describe('while storage refuses to store that the helpdesk has a message', () => {
  const followUps = {
    reaction: (first: MessageEvent) => eventAbout('reaction', first),
    edit: (first: MessageEvent) => eventAbout('edit', first),
    deletion: (first: MessageEvent) => eventAbout('revoke', first),
    answer: ({ id, sender }: MessageEvent) =>
      message('second', { quote: { id, sender, fromMe: false, text: 'first' } }),
  }
  for (const [what, eventAfter] of Object.entries(followUps)) {
    test(`the ${what} that follows that message waits, and is a reply to it`, async () => {
      await using bed = await BridgeBed.open()
      const allowCompletions = await bed.refuseCompletions()
      const first = message('first')
      await bed.receive(first)
      await bed.posted(1)
      await bed.receive(eventAfter(first))
      await bed.pass(1000)
      assert.deepEqual(bed.helpdesk.contents, ['first'])
      await allowCompletions()
      await bed.posted(2)
      const [original, reply] = bed.helpdesk.messages
      assert.equal(reply?.inReplyTo, original?.id)
      await bed.drained()
    })
  }

  test('the edit of that message waits, and goes into its conversation, although an agent has resolved it', async () => {
    await using bed = await BridgeBed.open()
    const allowCompletions = await bed.refuseCompletions()
    const first = message('first')
    await bed.receive(first)
    await bed.posted(1)
    const [conversation] = bed.helpdesk.conversations
    assert.ok(conversation)
    conversation.status = 'resolved'
    bed.set.conversations.mayBeResolved(desk.key, conversation.id)
    await bed.receive(eventAbout('edit', first))
    await bed.pass(1000)
    await allowCompletions()
    await bed.posted(2)
    assert.deepEqual(
      bed.helpdesk.messages.map(({ conversationId }) => conversationId),
      [conversation.id, conversation.id],
    )
    assert.equal(bed.helpdesk.conversations.length, 1)
    await bed.drained()
  })

  test('an earlier failure to decrypt that message is not announced', async () => {
    await using bed = await BridgeBed.open()
    const allowCompletions = await bed.refuseCompletions()
    const { kind, ...content } = message('here it is')
    const { id, at, chat, sender, fromMe, pushName } = content
    await bed.receive({ kind: 'undecryptable', reason: 'no session', id, at, chat, sender, fromMe, pushName })
    await bed.receive({ kind, ...content })
    await bed.posted(1)
    await bed.pass(11_000)
    await allowCompletions()
    await bed.drained()
    assert.deepEqual(bed.helpdesk.contents, ['here it is'])
  })

  test('the message is counted as pending', async () => {
    await using bed = await BridgeBed.open()
    const allowCompletions = await bed.refuseCompletions()
    await bed.receive(message('one'))
    await bed.posted(1)
    await bed.pass(1000)
    assert.equal(bed.inbound.counts().pending, 1)
    await allowCompletions()
    await bed.drained()
    await bed.settle()
    assert.equal(bed.inbound.counts().pending, 0)
  })
})

test('a message that is being taken up when its instance is let go stays in the inbox, and no warning is logged', async () => {
  await using bed = await BridgeBed.open()
  await bed.receive(message('one'))
  await bed.leave('a')
  await bed.settle()
  assert.equal(await bed.rows(), 1)
  assert.deepEqual(bed.logs.withMessage('a received message cannot be taken up yet'), [])
})

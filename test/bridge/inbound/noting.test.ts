// What the helpdesk has is noted while the next message of the chat is on its way already.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BridgeBed, message } from './harness/bridge-bed.ts'

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

test('a message that is being taken up when its instance is let go stays in the inbox, and no warning is logged', async () => {
  await using bed = await BridgeBed.open()
  await bed.receive(message('one'))
  await bed.leave('a')
  await bed.settle()
  assert.equal(await bed.rows(), 1)
  assert.deepEqual(bed.logs.withMessage('a received message cannot be taken up yet'), [])
})

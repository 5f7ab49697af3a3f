// Messages that agents delete while something else happens to them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SendStep } from '../../../src/bridge/outbound/send/row-sender.ts'
import { OutboundBed } from './harness/outbound-bed.ts'
import { revoked, rowOf } from './harness/views.ts'

test('a reaction is taken back with the emoji that was deleted', async () => {
  await using bed = await OutboundBed.open({ environment: { SERVICE_EMOJI_REPLY_AS_REACTION: 'true' } })
  const asked = await bed.hears('thanks!')
  const reactions = () =>
    bed.network
      .to(bed.bob)
      .flatMap(({ content }) => (content.type === 'reaction' ? [[content.target.id, content.emoji]] : []))
  const id = await bed.write('👍🏽', { content_attributes: { in_reply_to: asked.id } }, asked.conversationId)
  assert.equal(reactions().length, 1)
  await bed.until('it is settled', async () => (await bed.outbox()).sent === 1)
  await bed.desk.delete(id)
  await bed.until('it is taken back', () => reactions().length === 2)
  assert.deepEqual(reactions(), [
    [asked.sourceId, '👍🏽'],
    [asked.sourceId, ''],
  ])
  await bed.until('nothing is left to do', async () => (await bed.outbox()).pending === 0)
  assert.deepEqual(revoked(bed), [])
})

test('a message deleted while it is being refused leaves nothing to take back', async () => {
  const leaving = Promise.withResolvers<undefined>()
  const deleted = Promise.withResolvers<undefined>()
  let steps = 0
  const onSendStep = async (step: SendStep) => {
    if (step !== 'claimed' || steps++ > 0) return
    leaving.resolve(undefined)
    await deleted.promise
  }
  await using bed = await OutboundBed.open({ onSendStep })
  bed.network.fault({ kind: 'ack_error', code: 479 })
  const { id } = bed.desk.write('refused', {}, bed.conversation)
  await leaving.promise
  await bed.desk.delete(id)
  assert.equal((await bed.outbox()).pending, 2)
  deleted.resolve(undefined)
  await bed.until('both are settled', async () => (await bed.outbox()).pending === 0)
  assert.deepEqual(bed.network.messages, [])
})

test('a message deleted while it waits is not sent', async () => {
  await using bed = await OutboundBed.open()
  bed.disconnect()
  const id = await bed.write('never mind')
  assert.equal((await bed.outbox()).pending, 1)
  await bed.desk.delete(id)
  assert.equal((await bed.outbox()).pending, 0)
  const again = await bed.post(bed.callback(id, 'never mind'))
  assert.deepEqual([again.status, (again.body as { reason: string }).reason], [200, 'duplicate'])
  bed.connect()
  await bed.post(bed.callback(9000, 'the end'))
  assert.deepEqual(bed.texts(), ['the end'])
})

test('a deleted message in doubt is taken back too', async () => {
  await using bed = await OutboundBed.open()
  bed.network.fault({ kind: 'lost_ack' })
  bed.network.afterFrame = (frame) => {
    if (frame === 1) bed.disconnect()
  }
  const id = await bed.write('in doubt')
  const { id: waid } = await bed.received('in doubt')
  await bed.until('it is in doubt', async () => {
    const { status, unconfirmed } = await rowOf(bed, id)
    return status === 'pending' && unconfirmed === 1
  })
  await bed.desk.delete(id)
  await bed.until('it is cancelled', async () => (await bed.outbox()).failed === 1)
  bed.connect()
  await bed.until('it is taken back', () => revoked(bed).length === 1)
  assert.deepEqual(revoked(bed), [waid])
  assert.equal(bed.network.duplicates, 0, 'it was not sent again')
})

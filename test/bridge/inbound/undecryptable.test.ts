import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BridgeBed, message } from './harness/bridge-bed.ts'

describe('what could not be decrypted', () => {
  const waiting = '⏳ This message could not be decrypted yet. Its content follows as a reply when it arrives.'
  const undecryptable = (id: string) => {
    const { at, chat, sender, fromMe, pushName } = message('x')
    return { kind: 'undecryptable' as const, reason: 'no session', id, at, chat, sender, fromMe, pushName }
  }

  test('is announced after 10 s, and its content is a reply to that', async () => {
    await using bed = await BridgeBed.open()
    await bed.receive(undecryptable('U1'))
    await bed.pass(9_000)
    assert.deepEqual(bed.helpdesk.contents, [])
    await bed.pass(1_000)
    await bed.posted(1)
    assert.deepEqual(bed.helpdesk.contents, [waiting])
    await bed.receive(message('here it is', { id: 'U1' }))
    await bed.posted(2)
    const [first, second] = bed.helpdesk.messages
    assert.deepEqual([second?.content, second?.inReplyTo], ['here it is', first?.id])
    await bed.drained()
  })

  test('is announced after 10 s although it was stored by a clock that was a day ahead', async () => {
    await using bed = await BridgeBed.open()
    const row = await bed.store(undecryptable('U3'))
    const day = 86_400_000
    await bed.database.write(bed.database.query.updateTable('inbox').set({ received_at: row.receivedAt + day }))
    await bed.take('a')
    await bed.pass(10_000)
    await bed.posted(1)
    assert.deepEqual(bed.helpdesk.contents, [waiting])
  })

  test('is not mentioned when it comes in time, and delays no other message', async () => {
    await using bed = await BridgeBed.open()
    await bed.receive(undecryptable('U2'))
    await bed.receive(message('another one'))
    await bed.receive(message('here it is', { id: 'U2' }))
    await bed.posted(2)
    await bed.pass(20_000)
    await bed.drained()
    assert.deepEqual(bed.helpdesk.contents, ['another one', 'here it is'])
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BridgeBed, envelope, message, person } from './harness/bridge-bed.ts'

test('a message that cannot be opened is told of, although another chat has one of its id', async () => {
  await using bed = await BridgeBed.open()
  await bed.receive(message('hello', { id: 'SAME', chat: person('551190001') }))
  await bed.posted(1)
  await bed.receive({
    ...envelope({ id: 'SAME', chat: person('551190002') }),
    kind: 'undecryptable',
    reason: 'Bad MAC',
  })
  await bed.postedWithin(2, 20_000)
  const [first, second] = bed.helpdesk.messages
  assert.notEqual(first?.conversationId, second?.conversationId)
})

test('a group message that cannot be opened is told of, although another member has used its id', async () => {
  await using bed = await BridgeBed.open()
  const chat = { kind: 'group' as const, id: '120363000000000001' }
  await bed.receive(message('hello', { id: 'SAME', chat, sender: { phone: '551190001', lid: null } }))
  await bed.posted(1)
  const other = envelope({ id: 'SAME', chat, sender: { phone: '551190002', lid: null } })
  await bed.receive({ ...other, kind: 'undecryptable', reason: 'Bad MAC' })
  await bed.postedWithin(2, 20_000)
  await bed.drained()
})

test('a message that cannot be opened is not told of when its content has come under its id in its own chat', async () => {
  await using bed = await BridgeBed.open()
  await bed.receive({ ...envelope({ id: 'LATER' }), kind: 'undecryptable', reason: 'Bad MAC' })
  await bed.receive(message('hello', { id: 'LATER' }))
  await bed.posted(1)
  await bed.pass(20_000)
  await bed.drained()
  assert.deepEqual(bed.helpdesk.contents, ['hello'])
})

test('the message of a group member is no reply to the notice about the message of another member with its id', async () => {
  await using bed = await BridgeBed.open()
  const chat = { kind: 'group' as const, id: '120363000000000001' }
  const closed = envelope({ id: 'SAME', chat, sender: { phone: '551190001', lid: null } })
  await bed.receive({ ...closed, kind: 'undecryptable', reason: 'Bad MAC' })
  await bed.postedWithin(1, 20_000)
  await bed.receive(message('hello', { id: 'SAME', chat, sender: { phone: '551190002', lid: null } }))
  await bed.posted(2)
  assert.equal(bed.helpdesk.messages[1]?.inReplyTo, null)
  await bed.drained()
})

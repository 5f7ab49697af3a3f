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

test('and is not, when its content has come under its id in its own chat', async () => {
  await using bed = await BridgeBed.open()
  await bed.receive({ ...envelope({ id: 'LATER' }), kind: 'undecryptable', reason: 'Bad MAC' })
  await bed.receive(message('hello', { id: 'LATER' }))
  await bed.posted(1)
  await bed.pass(20_000)
  await bed.drained()
  assert.deepEqual(bed.helpdesk.contents, ['hello'])
})

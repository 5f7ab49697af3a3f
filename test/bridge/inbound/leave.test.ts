import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BridgeBed, message, person } from './harness/bridge-bed.ts'

test('after an instance has left, no part remembers its groups, headers, people or conversations', async () => {
  await using bed = await BridgeBed.open({ environment: { SERVICE_GROUP_HEADER_TTL: '1h' } })
  let asked = 0
  bed.session = {
    groupInfo: (id) => {
      asked++
      return Promise.resolve({ id, subject: 'Family', members: [] })
    },
  }
  const chat = { kind: 'group' as const, id: '120363000000000001' }
  const post = async (text: string, count: number) => {
    await bed.receive(message(text, { chat }))
    await bed.posted(count)
    await bed.drained()
    await bed.settle()
  }
  await post('one', 1)
  await post('two', 2)
  assert.equal(asked, 1)
  await bed.leave('a')
  await bed.leave('a')
  await bed.take('a')
  const before = bed.helpdesk.calls.length
  await post('three', 3)
  assert.equal(asked, 2)
  assert.deepEqual(bed.helpdesk.calls.slice(before), ['findConversation', 'post'])
  const header = '`+5511988887777 · ~Maria`'
  assert.deepEqual(
    bed.helpdesk.contents.map((content) => content.startsWith(header)),
    [true, false, true],
  )
})

test('an instance that leaves does not make another one forget', async () => {
  await using bed = await BridgeBed.open({ instances: ['a', 'ab'] })
  await bed.receive(message('one', { chat: person('5511900001') }), 'ab')
  await bed.posted(1)
  await bed.drained()
  await bed.leave('a')
  const before = bed.helpdesk.calls.length
  await bed.receive(message('two', { chat: person('5511900001') }), 'ab')
  await bed.posted(2)
  assert.deepEqual(bed.helpdesk.calls.slice(before), ['post'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChatLanes } from './chat-lanes.ts'

/** Work that ends when the test says so. */
function setUp() {
  const lanes = new ChatLanes()
  const begun: string[] = []
  const start = (chatId: string, name: string) => {
    const ended = Promise.withResolvers<undefined>()
    const result = lanes.run('a', chatId, (current) => {
      begun.push(`${name} in ${current}`)
      return ended.promise
    })
    return async () => {
      ended.resolve(undefined)
      await result
    }
  }
  return { lanes, begun, start }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('the work of the kept chat waits for the work of the dropped chat', async () => {
  const { lanes, begun, start } = setUp()
  const end1 = start('drop', '1')
  const end2 = start('drop', '2')
  await turn()
  const joined = lanes.merge('a', 'keep', 'drop')
  const end3 = start('keep', '3')
  await turn()
  assert.deepEqual(begun, ['1 in drop'])
  await end1()
  await turn()
  assert.deepEqual(begun, ['1 in drop', '2 in keep'])
  await end2()
  await joined
  await turn()
  assert.deepEqual(begun, ['1 in drop', '2 in keep', '3 in keep'])
  await end3()
})

test('work that still names the dropped chat takes its turn in the kept one, also after a second merge', async () => {
  const { lanes, begun, start } = setUp()
  await lanes.merge('a', 'keep', 'drop')
  await lanes.merge('a', 'last', 'keep')
  const end1 = start('last', '1')
  const end2 = start('drop', '2')
  await turn()
  assert.deepEqual(begun, ['1 in last'])
  await end1()
  await end2()
  assert.deepEqual(begun, ['1 in last', '2 in last'])
  lanes.leave('a')
  await start('drop', '3')()
  assert.equal(begun.at(-1), '3 in drop')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isolateFaults } from './fault-isolation.ts'

const listeners = () => [process.listenerCount('unhandledRejection'), process.listenerCount('uncaughtException')]

test('several networks share the listeners, and the last network to end removes them', () => {
  const [rejections = 0, exceptions = 0] = listeners()
  const [first, second] = [isolateFaults(), isolateFaults()]
  assert.deepEqual(listeners(), [rejections + 1, exceptions + 1])
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  assert.deepEqual(listeners(), [rejections + 1, exceptions + 1])
  second[Symbol.dispose]()
  assert.deepEqual(listeners(), [rejections, exceptions])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConversationTurns } from './conversation-turns.ts'

/** The message 6 waits for the message 5, whose callback has not come. */
function open() {
  const turns = new ConversationTurns()
  const started: number[] = []
  turns.begin(1)
  turns.add({ id: 6, mayWait: true, start: () => started.push(6) })
  turns.answered(6, [5])
  turns.advance()
  assert.equal(started.length, 0)
  return { turns, started }
}

test('a new burst ends the wait for a message that was written 100 ids before it, and for no later message', () => {
  for (const [burst, expected] of [
    [104, []],
    [105, [6]],
  ] as const) {
    const { turns, started } = open()
    turns.begin(burst)
    turns.advance()
    assert.deepEqual(started, expected)
  }
})

test('a message that is given up is not waited for', () => {
  const { turns, started } = open()
  turns.giveUp(5)
  turns.advance()
  assert.deepEqual(started, [6])
})

test('a message with the next id asks nothing, and still waits for a message before it', () => {
  const { turns, started } = open()
  turns.add({ id: 7, mayWait: true, start: () => started.push(7) })
  assert.equal(turns.unasked, undefined)
  turns.advance()
  assert.equal(started.length, 0)
  turns.add({ id: 5, mayWait: false, start: () => started.push(5) })
  turns.advance()
  assert.deepEqual(started, [5, 6, 7])
})

test('a message that skips an id asks for the messages between, until they have come', () => {
  const { turns } = open()
  turns.add({ id: 8, mayWait: true, start: () => undefined })
  assert.equal(turns.unasked, 8)
  turns.add({ id: 7, mayWait: true, start: () => undefined })
  assert.equal(turns.unasked, undefined)
})

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
  assert.deepEqual(started, [])
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

import assert from 'node:assert/strict'
import { EventEmitter, getEventListeners } from 'node:events'
import { test } from 'node:test'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'
import { sendAndWait } from './send-and-wait.ts'

const stanza: BinaryNode = { tag: 'iq', attrs: { id: '1' } }

function open() {
  const clock = new ManualClock()
  const ws = new EventEmitter()
  const { signal: gone } = new AbortController()
  const socket = { ws, sendNode: () => Promise.resolve() } as unknown as WASocket
  const isAnswer = ({ attrs }: BinaryNode) => attrs['id'] === '1'
  const exchange = { stanza, event: 'answer', isAnswer, ms: 1_000, late: () => new Error('too late') }
  const listeners = () => ws.listenerCount('answer') + getEventListeners(gone, 'abort').length
  return { clock, ws, listeners, answer: sendAndWait(exchange, { socket, clock, gone }) }
}

test('the answer with the right id ends the wait, and leaves no listener', async () => {
  const { ws, listeners, answer } = open()
  ws.emit('answer', { tag: 'iq', attrs: { id: '2' } })
  ws.emit('answer', stanza)
  assert.equal(await answer, stanza)
  assert.equal(listeners(), 0)
})

test('an answer that never comes leaves no listener either', async () => {
  const { clock, listeners, answer } = open()
  const failed = assert.rejects(answer, /too late/)
  assert.equal(listeners(), 2)
  await clock.advance(1_000)
  await failed
  // The promise that listens settles a turn later.
  await clock.advance(0)
  assert.equal(listeners(), 0)
})

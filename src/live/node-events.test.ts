import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatEvent } from './event-ring.ts'
import { formatNodeEvent, NodeEventReader } from './node-events.ts'
import type { NodeEvent } from './node-events.ts'

const row: NodeEvent = {
  kind: 'instance',
  data: { name: 'shop', text: 'Grüße 🎉: \n\nof: 9 bar' },
  subject: { instance: 'shop', epoch: 7 },
}
const alert: NodeEvent = { kind: 'alert', data: { message: '' }, subject: undefined }

describe('events from another node', () => {
  test('are read in pieces of any size', () => {
    const bytes = Buffer.from(formatNodeEvent(row) + ': alive\n\n' + formatNodeEvent(alert))
    for (let size = 1; size <= bytes.length; size++) {
      const reader = new NodeEventReader()
      const read: NodeEvent[] = []
      for (let at = 0; at < bytes.length; at += size) read.push(...reader.read(bytes.subarray(at, at + size)))
      assert.deepEqual(read, [row, alert])
    }
  })

  test('of a kind that this version does not know, and what is said to a listener, are left out', () => {
    const text = ['hello', 'reset', 'bye', 'news'].map((kind) => formatEvent({ kind, data: {} })).join('')
    assert.deepEqual(new NodeEventReader().read(Buffer.from(text)), [])
  })

  test('that never end, or are no JSON, end the stream', () => {
    const reader = new NodeEventReader()
    const piece = Buffer.alloc(100_000, 'x')
    reader.read(piece)
    reader.read(piece)
    assert.throws(() => reader.read(piece), /has no end/)
    assert.throws(() => new NodeEventReader().read(Buffer.from('event: alert\ndata: {\n\n')), SyntaxError)
  })
})

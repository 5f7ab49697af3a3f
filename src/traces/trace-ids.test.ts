import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSampled, traceIdsOf } from './trace-ids.ts'

const received = { of: 'network', instance: 'n0', id: 'A1', kind: 'message' } as const

test('the ids of a message never change, because messages outlive a version of the service', () => {
  assert.deepEqual(traceIdsOf(received), {
    traceId: '50754de348e740f176b885f3c6e9a521',
    firstId: '75e64dc8a66d0843',
  })
})

test('another message has another trace', () => {
  const subjects = [
    received,
    { ...received, instance: 'n1' },
    { ...received, id: 'A2' },
    { of: 'helpdesk', destination: 'd', id: 1 },
    { of: 'helpdesk', destination: 'd', id: 2 },
    { of: 'outbox', id: 'A1' },
  ] as const
  assert.equal(new Set(subjects.map((each) => traceIdsOf(each).traceId)).size, subjects.length)
})

test('the notice that a message cannot be decrypted is in the trace of the message, with a first step of its own', () => {
  const [message, notice] = [received, { ...received, kind: 'undecryptable' } as const].map(traceIdsOf)
  assert.equal(notice?.traceId, message?.traceId)
  assert.notEqual(notice?.firstId, message?.firstId)
})

test('about the configured share of the traces is recorded', () => {
  const ids = Array.from({ length: 2000 }, (_, n) => traceIdsOf({ ...received, id: String(n) }))
  const countOf = (share: number) => ids.filter((each) => isSampled(each, share)).length
  assert.deepEqual([countOf(0), countOf(1)], [0, 2000])
  assert.ok(countOf(0.1) > 120 && countOf(0.1) < 280)
})

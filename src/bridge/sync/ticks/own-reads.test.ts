import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../../test/harness/logs.ts'
import { DownstreamError } from '../../../core/downstream.ts'
import type { DownstreamFailure } from '../../../core/downstream.ts'
import { markSeenByOwner } from './own-reads.ts'

const read = { instance: 'n0', destination: 'desk', conversationId: 5, newest: 'r1' }

function stage({
  newer = [],
  key = 'desk',
  failure,
}: { newer?: boolean[]; key?: string; failure?: DownstreamFailure } = {}) {
  const seen: number[] = []
  const helpdesk = {
    setStatus: () => Promise.resolve(),
    markUnread: () => {
      seen.pop()
      return Promise.resolve()
    },
    markSeen: (conversationId: number) => {
      seen.push(conversationId)
      return failure ? Promise.reject(new DownstreamError(failure, 'no')) : Promise.resolve()
    },
  }
  const deps = {
    store: { hasNewerUnread: () => Promise.resolve(newer.shift() ?? false) },
    targetOf: () => Promise.resolve({ destination: { key }, helpdesk }),
    log: silentLog,
  }
  return { deps, seen }
}

test('the conversation of a chat that the owner has read is marked as seen', async () => {
  const { deps, seen } = stage()
  assert.deepEqual([await markSeenByOwner(deps, read), seen], ['ok', [5]])
})

test('a newer message that the owner has not read keeps the conversation unread', async () => {
  const { deps, seen } = stage({ newer: [true] })
  assert.deepEqual([await markSeenByOwner(deps, read), seen], ['filtered', []])
})

test('a message that comes while the conversation is marked stays unread', async () => {
  const { deps, seen } = stage({ newer: [false, true] })
  assert.deepEqual([await markSeenByOwner(deps, read), seen], ['filtered', []])
})

test('a conversation of another helpdesk inbox is left alone', async () => {
  const { deps, seen } = stage({ key: 'other' })
  assert.deepEqual([await markSeenByOwner(deps, read), seen], ['no_conv', []])
})

test('a conversation that is gone is no failure, and every other refusal is', async () => {
  assert.equal(await markSeenByOwner(stage({ failure: 'gone' }).deps, read), 'no_conv')
  assert.equal(await markSeenByOwner(stage({ failure: 'transient' }).deps, read), 'ds_error')
})

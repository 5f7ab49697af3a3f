// A post whose outcome is unknown is searched for before the message is posted again: by the next process, and after a person
// has the parked message tried again.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DownstreamError } from '../../../src/core/downstream.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import type { Posted } from '../harness/scripted-helpdesk.ts'
import { BridgeBed, message } from '../inbound/harness/bridge-bed.ts'

/** One message is posted. The process dies while it posts a second one. */
async function crashWhilePosting(
  bed: BridgeBed,
  options: { isCommitted: boolean; awayMs?: number; meanwhile?: () => unknown },
) {
  await bed.receive(message('zero'))
  await bed.posted(1)
  await bed.drained()
  const once = bed.helpdesk.commit.bind(bed.helpdesk)
  const answer = Promise.withResolvers<never>()
  let late: (() => Promise<Posted>) | undefined
  bed.helpdesk.commit = async (...args) => {
    bed.helpdesk.commit = once
    if (options.isCommitted) await once(...args)
    late = () => once(...args)
    return answer.promise
  }
  await bed.receive(message('one'))
  await waitUntil('the post is under way', () => late !== undefined)
  options.meanwhile?.()
  const restarted = bed.restart({ crash: true })
  bed.clock.freeze(options.awayMs ?? 0)
  answer.reject(new DownstreamError('transient', 'the process is dead', { mayHaveHappened: true }))
  await restarted
  return { commitNow: () => late?.() }
}

describe('a post that a dead process began', () => {
  test('and the helpdesk committed is found, and not repeated', async () => {
    await using bed = await BridgeBed.open()
    await crashWhilePosting(bed, { isCommitted: true })
    await bed.drained()
    await bed.pass(30_000)
    assert.deepEqual(bed.helpdesk.contents, ['zero', 'one'])
  })

  test('and the helpdesk committed is found in its conversation, although that is resolved meanwhile', async () => {
    await using bed = await BridgeBed.open()
    const resolve = () => {
      for (const conversation of bed.helpdesk.conversations) conversation.status = 'resolved'
    }
    await crashWhilePosting(bed, { isCommitted: true, meanwhile: resolve })
    await bed.drainedWithin(60_000)
    assert.deepEqual([bed.helpdesk.contents, bed.helpdesk.conversations.length], [['zero', 'one'], 1])
  })

  test('and the helpdesk deleted with its conversation is posted into a new one', async () => {
    await using bed = await BridgeBed.open()
    await crashWhilePosting(bed, { isCommitted: true, meanwhile: () => bed.helpdesk.conversations.splice(0) })
    await bed.drainedWithin(60_000)
    assert.deepEqual([bed.helpdesk.contents, bed.helpdesk.conversations.length], [['zero', 'one', 'one'], 1])
  })

  test('and the helpdesk never got is repeated 20 s after the start', async () => {
    await using bed = await BridgeBed.open()
    await crashWhilePosting(bed, { isCommitted: false })
    const startedAt = bed.clock.now()
    await bed.postedWithin(2, 60_000)
    const waitedMs = bed.clock.now() - startedAt
    assert.ok(waitedMs >= 20_000 && waitedMs <= 25_000, `after ${waitedMs} ms`)
    await bed.drained()
    await bed.pass(30_000)
    assert.deepEqual(bed.helpdesk.contents, ['zero', 'one'])
  })

  const commitLate = async (bed: BridgeBed) => {
    const { commitNow } = await crashWhilePosting(bed, { isCommitted: false })
    await bed.receive(message('after it'))
    for (let passed = 0; passed < 15_000; passed += 500) await bed.pass(500)
    await commitNow()
    await bed.postedWithin(3, 10_000)
    await bed.drainedWithin(10_000)
    return bed.helpdesk.contents
  }

  test('and the helpdesk commits 15 s after the start is waited for', async () => {
    await using bed = await BridgeBed.open()
    assert.deepEqual(await commitLate(bed), ['zero', 'one', 'after it'])
  })

  test('would be there twice without that wait', async () => {
    await using bed = await BridgeBed.open({ lateCommitMs: 0 })
    assert.deepEqual(await commitLate(bed), ['zero', 'one', 'after it', 'one'])
  })

  test('more than an hour ago is searched for once, and then repeated at once', async () => {
    await using bed = await BridgeBed.open()
    await crashWhilePosting(bed, { isCommitted: false, awayMs: 3_601_000 })
    await bed.posted(2)
    await bed.drained()
    assert.deepEqual(bed.helpdesk.contents, ['zero', 'one'])
    assert.equal(bed.helpdesk.calls.filter((call) => call === 'findPosted').length, 1)
  })
})

test('a parked message whose post had an unknown outcome is searched for when it is tried again', async () => {
  await using bed = await BridgeBed.open({ environment: { SERVICE_INBOX_TTL: '1h' } })
  const away = () => {
    throw new DownstreamError('transient', 'no answer', { mayHaveHappened: true })
  }
  bed.helpdesk.afterPost = away
  bed.helpdesk.script = (call) => {
    if (call === 'findPosted') away()
  }
  await bed.receive(message('one'))
  await waitUntil('the message is parked', async () => {
    await bed.pass(60_000)
    return bed.inbound.counts().parked === 1
  })
  bed.helpdesk.afterPost = () => undefined
  bed.helpdesk.script = () => undefined
  await bed.inbound.retryParked('a')
  await bed.drainedWithin(60_000)
  assert.deepEqual(bed.helpdesk.contents, ['one'])
})

// An instance leaves its node while a request about it is worked on.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NotHeldError } from '../../src/core/nodes/hold.ts'
import { assertRefused } from '../harness/assertions.ts'
import { requestFrom } from '../harness/http-request.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { apiToken as token, startPair } from './harness/two-nodes.ts'
import type { TestNode } from './harness/two-nodes.ts'

const riskAt = ({ url }: TestNode) => requestFrom(url, 'GET', '/api/instances/shop/ban-risk', { token })

test('an instance that has left is not answered as one that does not exist', async () => {
  await using pair = await startPair()
  pair.stranger.owners.answers = ['here', pair.owner.owner]
  const answer = await riskAt(pair.stranger)
  assertRefused(answer, 'SERVICE_NO_OWNER')
  assert.equal(answer.headers.get('retry-after'), '1')
})

for (const after of ['unknown', 'here'] as const) {
  test(`an instance that was deleted meanwhile does not exist: ${after}`, async () => {
    await using pair = await startPair()
    pair.stranger.owners.answers = ['here', after]
    assertRefused(await riskAt(pair.stranger), 'SERVICE_INSTANCE_NOT_FOUND')
  })
}

test('a change that the database refuses because the instance has left may be tried again', async () => {
  await using pair = await startPair()
  pair.stranger.owners.answers = ['here', pair.owner.owner]
  const answer = await requestFrom(pair.stranger.url, 'POST', '/api/instances/shop/logout', { token })
  assertRefused(answer, 'SERVICE_NO_OWNER')
  assert.equal(answer.headers.get('retry-after'), '1')
})

describe('a callback whose instance leaves', () => {
  const callback = ({ url }: TestNode, headers: Record<string, string>) =>
    requestFrom(url, 'POST', '/api/instances/shop/webhook', { body: '{"id":1}', headers })

  for (const header of ['x-leaves', 'x-gone']) {
    test(`goes to the new owner: ${header === 'x-gone' ? 'before' : 'after'} its body was read`, async () => {
      await using pair = await startPair()
      pair.stranger.owners.answers = ['here', pair.owner.owner]
      const { status, body } = await callback(pair.stranger, { [header]: 'stranger-1' })
      assert.deepEqual([status, body], [202, { status: 'queued', bytes: 8 }])
      assert.deepEqual(pair.owner.seen.at(-1)?.body, Buffer.from('{"id":1}'))
    })
  }

  test('has waited for as long as its first node worked on it', async () => {
    await using pair = await startPair()
    pair.stranger.owners.answers = ['here', pair.owner.owner]
    // The clock of the pair runs so slowly that only the time of the work counts.
    await callback(pair.stranger, { 'x-leaves': 'stranger-1', 'x-works': '300' })
    assert.ok((pair.owner.seen.at(-1)?.heldMs ?? 0) >= 300)
  })

  test('is stored when there is no new owner yet', async () => {
    await using pair = await startPair()
    pair.stranger.owners.answers = ['here', 'none']
    const { status } = await callback(pair.stranger, { 'x-leaves': 'stranger-1' })
    assert.equal(status, 202)
    assert.deepEqual(
      pair.stranger.stored.map(({ raw }) => String(raw)),
      ['{"id":1}'],
    )
  })

  test('goes to the new owner with its body, when the node that has read it could not store it', async () => {
    await using pair = await startPair()
    pair.stranger.standInFailure = new NotHeldError()
    pair.stranger.owners.answers = ['none', 'none', pair.owner.owner]
    const { status, body } = await callback(pair.stranger, {})
    assert.deepEqual([status, body], [202, { status: 'queued', bytes: 8 }])
    assert.deepEqual(pair.owner.seen.at(-1)?.body, Buffer.from('{"id":1}'))
  })

  test('has not waited twice while the service started', async () => {
    await using pair = await startPair()
    const { stranger } = pair
    stranger.owners.answers = ['here', 'none']
    stranger.phase = 'starting'
    const asked = performance.now()
    const answering = callback(stranger, { 'x-leaves': 'stranger-1' })
    await waitUntil('the callback is held', () => stranger.gateClock.pending > 0)
    // The callback waits 3.4 s at the gate. If this time counted twice, no time would be left for the second look.
    await stranger.gateClock.advance(3400)
    stranger.phase = 'serving'
    stranger.begun.abort()
    assert.equal((await answering).status, 202)
    const [stored] = stranger.stored
    assert.ok(stored && stored.waitedMs <= performance.now() - asked, `${stored?.waitedMs} ms`)
  })

  test('is stored by the node that has handed it on', async () => {
    await using pair = await startPair()
    pair.owner.owners.answers = ['none']
    const { status } = await callback(pair.stranger, { 'x-leaves': 'owner-1' })
    assert.equal(status, 202)
    assert.equal(pair.stranger.stored[0]?.mayBeStored, true)
    assert.deepEqual(pair.owner.stored, [])
  })
})

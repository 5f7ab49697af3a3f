// The key of a request: a repeat gives the answer to the first request, and nothing is sent again.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { engines } from '../../harness/databases.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { send, sendToBob, toBob } from './harness/direct-calls.ts'
import type { DirectReply } from './harness/direct-calls.ts'

const hour = 3_600_000

for (const engine of engines) {
  describe(`on ${engine}`, { concurrency: 2 }, () => {
    test('a repeat gives the same answer, however the number is spelled, and sends nothing', async () => {
      await using world = await AgentWorld.open({ engine })
      const first = await sendToBob(world, { text: 'only once', idempotency_key: 'a' })
      const again = await send(world, { to: '5511888880001', text: 'only once', idempotency_key: 'a' })
      assert.deepEqual([again.status, again.body], [200, first])
      await sendToBob(world, { text: 'the end' })
      await world.received('the end')
      assert.deepEqual(world.texts(), ['only once', 'the end'])
    })

    test('twenty requests at once with one key send one message and get one answer', async () => {
      await using world = await AgentWorld.open({ engine })
      const request = { to: toBob, text: 'only once', idempotency_key: 'a' }
      const answers = await Promise.all(Array.from({ length: 20 }, () => send(world, request)))
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
      await sendToBob(world, { text: 'the end' })
      await world.received('the end')
      assert.deepEqual(world.texts(), ['only once', 'the end'])
    })

    test('another request under the same key is refused and changes nothing', async () => {
      await using world = await AgentWorld.open({ engine })
      const first = await sendToBob(world, { text: 'one', idempotency_key: 'a' })
      for (const other of [{ text: 'two' }, { text: 'one', quote: first.waid }, { text: 'one', to: '5511888880002' }]) {
        const { error_code } = await sendToBob(world, { idempotency_key: 'a', ...other }, 409)
        assert.equal(error_code, 'SERVICE_KEY_REUSED')
      }
      assert.deepEqual(await sendToBob(world, { text: 'one', idempotency_key: 'a' }), first)
      assert.deepEqual(world.texts(), ['one'])
    })

    test('a key counts for 24 hours', async () => {
      const clock = new ManualClock(Date.now())
      await using world = await AgentWorld.open({ engine, clock })
      const request = { text: 'good morning', idempotency_key: 'daily' }
      const first = await sendToBob(world, request)
      clock.set(24 * hour - 1000)
      assert.deepEqual(await sendToBob(world, request), first)
      clock.set(2000)
      const next = await sendToBob(world, request)
      assert.notEqual(next.queue_id, first.queue_id)
      assert.deepEqual(await sendToBob(world, request), next)
    })
  })
}

test('a queued message is answered as sent once it is sent', async () => {
  await using world = await AgentWorld.open()
  await world.disconnect()
  const request = { text: 'later', idempotency_key: 'a' }
  const queued = await sendToBob(world, request, 202)
  assert.equal(queued.status, 'queued')
  assert.ok(Date.parse(queued.expires_at) > Date.now())
  assert.deepEqual(await sendToBob(world, request, 202), queued)
  await world.reconnect()
  const { id } = await world.received('later')
  await waitUntil('it is stored as sent', async () => (await world.outbox())['sent'] === 1)
  assert.deepEqual(await sendToBob(world, request), { status: 'sent', waid: id, queue_id: queued.queue_id })
  await world.arrived({ id })
})

test('a refused and an expired message are answered with their reason again, and are not sent', async () => {
  const clock = new ManualClock(Date.now())
  await using world = await AgentWorld.open({ clock })
  const unknown = { to: '5511888889999', text: 'nobody there', idempotency_key: 'a' }
  const refused = await sendToBob(world, unknown, 500)
  assert.deepEqual([refused.error_code, /not on WhatsApp/.test(refused.error)], ['SERVICE_MESSAGE_REFUSED', true])
  assert.deepEqual(await sendToBob(world, unknown, 500), refused)

  await world.disconnect()
  const late = { text: 'too late', idempotency_key: 'b' }
  await sendToBob(world, late, 202)
  await clock.advance(6 * 60_000)
  await waitUntil('it has expired', async () => {
    await world.passTime(1000)
    return (await world.outbox())['expired'] === 1
  })
  const { error, error_code } = await sendToBob(world, late, 500)
  assert.deepEqual([error_code, error], ['SERVICE_MESSAGE_REFUSED', 'the account was not connected for 5 minutes'])
  await world.reconnect()
  assert.deepEqual(world.texts(), [])
})

test('what is not accepted leaves its key free', async () => {
  await using world = await AgentWorld.open()
  const request = { text: 'hello', idempotency_key: 'a' }
  assert.equal((await sendToBob(world, { ...request, quote: 'NONE' }, 404)).error_code, 'SERVICE_QUOTE_NOT_FOUND')
  assert.equal((await sendToBob(world, { ...request, caption: 'x' }, 400)).error_code, 'SERVICE_BAD_REQUEST')
  assert.equal((await sendToBob(world, request)).status, 'sent')
})

test('the keys of a deleted instance do not count for a new one', async () => {
  await using world = await AgentWorld.open()
  const first = (await sendToBob(world, { text: 'one', idempotency_key: 'a' })) satisfies DirectReply
  assert.equal(first.status, 'sent')
  assert.equal((await world.service.request('DELETE', '/api/instances/n0')).status, 200)
  const left = await world.service.database.read(world.service.database.query.selectFrom('request_keys').selectAll())
  assert.deepEqual(left, [])
})

// Direct messages pass the same guards as messages of agents, and keep their order with them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { engines } from '../../harness/databases.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { send, sendToBob } from './harness/direct-calls.ts'

for (const engine of engines) {
  describe(`on ${engine}`, { concurrency: 2 }, () => {
    test('the spamguard blocks a repeated text of a program or an agent, and the key stays blocked', async () => {
      await using world = await AgentWorld.open({ engine })
      await world.patch('n0', { spamguard_enabled: true })
      await sendToBob(world, { text: 'the same words' })
      const blocked = await sendToBob(world, { text: 'The same  words', idempotency_key: 'a' }, 422)
      assert.deepEqual([blocked.status, blocked.error_code], ['blocked', 'SERVICE_SPAM_BLOCKED'])
      await sendToBob(world, { text: 'other words entirely' })
      assert.deepEqual(await sendToBob(world, { text: 'The same  words', idempotency_key: 'a' }, 422), blocked)
      const { status } = await world.post(world.callback(7, 'other words entirely'))
      assert.equal(status, 422)
      assert.deepEqual(world.texts(), ['the same words', 'other words entirely'])
    })

    test('messages of agents and of programs leave in the order of their acceptance', async () => {
      await using world = await AgentWorld.open({ engine })
      await world.disconnect()
      const texts = Array.from({ length: 8 }, (_, n) => `number ${n}`)
      for (const [n, text] of texts.entries()) {
        const { status } = n % 2 === 0 ? await world.post(world.callback(100 + n, text)) : await toBobs(world, text)
        assert.equal(status, 202)
      }
      world.network.faults.clear()
      await world.restart()
      await waitUntil('all are sent', async () => (await world.outbox())['sent'] === texts.length)
      assert.deepEqual(world.texts(), texts)
    })
  })
}

function toBobs(world: AgentWorld, text: string) {
  return send(world, { to: '5511888880001', text })
}

test('the 201st message that waits is refused with 503, and its key stays free', async () => {
  await using world = await AgentWorld.open()
  await world.disconnect()
  for (let n = 0; n < 200; n++) await sendToBob(world, { text: `number ${n}` }, 202)
  const { error_code } = await sendToBob(world, { text: 'one too many', idempotency_key: 'a' }, 503)
  assert.equal(error_code, 'SERVICE_OUTBOX_FULL')
  assert.deepEqual(await refusedRows(world), [], 'no row is kept for a Retry that cannot come')
  await world.reconnect()
  await waitUntil('there is room', async () => Number((await world.outbox())['sent']) > 20)
  const { status } = await send(world, { to: '5511888880001', text: 'one too many', idempotency_key: 'a' })
  assert.ok(status < 300)
})

test('a blocked message leaves a row only for its key, without its text', async () => {
  await using world = await AgentWorld.open()
  await world.patch('n0', { spamguard_enabled: true })
  await sendToBob(world, { text: 'the same words' })
  await sendToBob(world, { text: 'the same words' }, 422)
  assert.deepEqual(await refusedRows(world), [])
  await sendToBob(world, { text: 'the same words', idempotency_key: 'a' }, 422)
  assert.deepEqual(await refusedRows(world), [{ payload: null }])
})

function refusedRows({ service: { database } }: AgentWorld) {
  return database.read(database.query.selectFrom('outbox').select('payload').where('status', '=', 'refused'))
}

test('an account that is not linked refuses with 409 and stores nothing', async () => {
  await using world = await AgentWorld.open()
  await world.command('/n0/logout')
  const { error_code } = await sendToBob(world, { text: 'hello' }, 409)
  assert.equal(error_code, 'SERVICE_NOT_READY')
  assert.deepEqual((await world.outbox())['pending'], 0)
})

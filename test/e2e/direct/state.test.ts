// What has become of one message, asked by its queue id.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { engines } from '../../harness/databases.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { send, sendToBob } from './harness/direct-calls.ts'

type State = { status: string; waid: string | null; error: string | null; unconfirmed: boolean; remote_jid: string }

function stateOf({ service }: AgentWorld, queueId: string, instance = 'n0') {
  return service.get(`/api/instances/${instance}/outbox/${queueId}`)
}

for (const engine of engines) {
  describe(`on ${engine}`, { concurrency: 2 }, () => {
    test('a queued message is pending until it is sent', async () => {
      await using world = await AgentWorld.open({ engine })
      await world.disconnect()
      const { queue_id } = await sendToBob(world, { text: 'later' }, 202)
      const { status, waid } = (await stateOf(world, queue_id)).body as State
      assert.deepEqual([status, waid], ['pending', null])
      await world.reconnect()
      const { id } = await world.received('later')
      await waitUntil('it is stored as sent', async () => (await world.outbox())['sent'] === 1)
      const sent = (await stateOf(world, queue_id)).body as State
      assert.deepEqual([sent.status, sent.waid, sent.unconfirmed, sent.error], ['sent', id, false, null])
    })

    test('an unknown message, one of another instance, an unknown instance and junk are refused', async () => {
      await using world = await AgentWorld.open({ engine, accounts: 2 })
      const { queue_id } = await sendToBob(world, { text: 'mine' })
      assertRefused(await stateOf(world, 'none'), 'SERVICE_MESSAGE_NOT_FOUND')
      assertRefused(await stateOf(world, queue_id, 'n1'), 'SERVICE_MESSAGE_NOT_FOUND')
      assertRefused(await stateOf(world, queue_id, 'nobody'), 'SERVICE_INSTANCE_NOT_FOUND')
      assertRefused(await stateOf(world, 'a%00b'), 'SERVICE_BAD_REQUEST')
    })
  })
}

test('a message that was refused says why', async () => {
  await using world = await AgentWorld.open()
  world.network.fault({ kind: 'ack_error', code: 404 })
  const { status } = await send(world, { to: '5511888880001', text: 'no' })
  assert.equal(status, 500)
  const { database } = world.service
  const [row] = await database.read(database.query.selectFrom('outbox').select('id'))
  const state = (await stateOf(world, row?.id ?? '')).body as State
  assert.deepEqual([state.status, state.waid, state.unconfirmed], ['failed', null, false])
  assert.ok(state.error)
})

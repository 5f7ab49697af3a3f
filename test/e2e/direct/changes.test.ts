// What happens to a direct message at the helpdesk after it was sent: agents delete it, and its ticks come late.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { unwrap } from '../../../sim/network/people/received-message.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { engines } from '../../harness/databases.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { receiptCounts } from '../sync/harness/tick-world.ts'
import { sendToBob } from './harness/direct-calls.ts'

const posts = { method: 'POST', path: /\/messages$/ }

/** The ids of the messages that Bob was told to remove. */
function revoked({ bob }: AgentWorld): (string | null | undefined)[] {
  const protocols = bob.messages.entries.map(({ message }) => unwrap(message).protocolMessage)
  return protocols.filter((protocol) => Number(protocol?.type) === 0).map((protocol) => protocol?.key?.id)
}

for (const engine of engines) {
  describe(`on ${engine}`, { concurrency: 2 }, () => {
    test('a direct message that an agent deletes is taken back, once; one of the phone stays', async () => {
      await using world = await AgentWorld.open({ engine })
      const { waid } = await sendToBob(world, { text: 'the wrong price' })
      const shown = await world.arrived({ id: waid })
      const written = world.phone.text(world.bob, 'from the phone')
      const echo = await world.arrived(written)
      for (const { id, conversationId } of [echo, shown, shown]) {
        await world.agent.delete(`/conversations/${conversationId}/messages/${id}`)
      }
      await waitUntil('it is taken back', () => revoked(world).length > 0)
      await sendToBob(world, { text: 'the end' })
      await world.received('the end')
      assert.deepEqual(revoked(world), [waid])
    })

    test('a read receipt that comes long before the helpdesk has the message is shown later', async () => {
      const clock = new ManualClock(Date.now())
      await using world = await AgentWorld.open({ engine, clock })
      await world.helpdesk.fault({ kind: 'status', status: 503, ...posts, times: Infinity })
      const { waid } = await sendToBob(world, { text: 'read at once' })
      world.bob.receipt('read', [await world.received('read at once')])
      await waitUntil('the receipt is given up', async () => {
        await world.passTime(2000)
        return (await receiptCounts(world))['no_conv'] === 1
      })
      await world.helpdesk.clearFaults()
      await waitUntil('the helpdesk shows that it was read', async () => {
        await world.passTime(2000)
        return world.helpdesk.messages().some(({ sourceId, status }) => sourceId === waid && status === 'read')
      })
    })
  })
}

test('a direct message is taken back also when the answer to its post was lost', async () => {
  await using world = await AgentWorld.open()
  await world.helpdesk.fault({ kind: 'timeout', commit: 'at_once', ...posts })
  await world.helpdesk.fault({ kind: 'status', status: 503, method: 'GET', path: /\/messages/, times: Infinity })
  const { waid } = await sendToBob(world, { text: 'deleted early' })
  const { id, conversationId } = await world.arrived({ id: waid })
  await world.agent.delete(`/conversations/${conversationId}/messages/${id}`)
  await waitUntil('it is taken back', () => revoked(world).length > 0)
  assert.deepEqual(revoked(world), [waid])
})

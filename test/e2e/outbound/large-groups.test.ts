// First messages to large groups keep the processor busy for long: every member needs a session. Others must not notice.

import { AgentWorld } from '../../harness/agent-world.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SimGroup } from '../../../sim/network/groups/sim-group.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const busy = 6
const members = 60

async function crowd() {
  const world = await AgentWorld.open({ accounts: busy + 1 })
  const people = Array.from({ length: members }, (_, n) => world.network.person({ phone: `5511777770${100 + n}` }))
  const [founder, ...others] = people
  assert.ok(founder)
  const groups = world.phones
    .slice(1)
    .map((phone, n): SimGroup => world.network.group(`Team ${n}`, founder, [phone, ...others]))
  const toGroup = ({ jid }: SimGroup, index: number) => {
    const conversation = { id: 500 + index, inbox_id: 1, meta: { sender: { identifier: jid } } }
    return world.post(world.callback(500 + index, 'to all of you', { conversation }), { instance: `n${index + 1}` })
  }
  const read = () => people.reduce((sum, { messages }) => sum + messages.entries.length, 0)
  return { world, groups, toGroup, read, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

test('a message of another account is sent while fan-outs to large groups are under way', async () => {
  await using set = await crowd()
  const { world, groups, toGroup, read } = set
  // Bob's devices are known, so that the further messages to him wait only for the processor.
  assert.equal((await world.post(world.callback(1, 'before'))).status, 200)
  const arrived = () => world.bob.messages.entries.length
  const groupsDone = { is: false }
  const all = Promise.all(groups.map(toGroup)).finally(() => {
    groupsDone.is = true
  })
  let arrivedMeanwhile = 0
  for (let n = 0; !groupsDone.is && read() < members * busy; n++) {
    arrivedMeanwhile = arrived() - 1
    const { status, text } = await world.post(world.callback(10 + n, `number ${n}`))
    assert.ok(status === 200 || status === 202, text)
  }
  for (const { status, text } of await all) assert.ok(status === 200 || status === 202, text)
  await waitUntil('everybody has read', () => read() === members * busy)
  assert.ok(arrivedMeanwhile > 1, `${arrivedMeanwhile} messages arrived while the groups were written to`)
})

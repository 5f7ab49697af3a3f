// Retry by the agent sends exactly once; nothing else that changes a failed message sends it.

import { AgentWorld } from '../../harness/agent-world.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calm } from '../../../sim/helpdesk/settings.ts'
import { attach } from '../../harness/agent-files.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const mp3 = { name: 'a.mp3', type: 'audio/mpeg', bytes: Buffer.concat([Buffer.from('ID3'), Buffer.alloc(500, 0x55)]) }

async function isReported(world: AgentWorld, id: number): Promise<boolean> {
  const { database } = world.service
  const rows = await database.read(
    database.query.selectFrom('outbox').select('shown').where('message_id', '=', id).where('shown', '=', 'told'),
  )
  return rows.length > 0
}

async function failed(world: AgentWorld, id: number): Promise<void> {
  await waitUntil('the failure is confirmed', () => isReported(world, id))
  await world.helpdesk.settled()
}

function retry(world: AgentWorld, id: number) {
  return world.agent.post(`/conversations/${world.conversation}/messages/${id}/retry`)
}

const updates = (world: AgentWorld, id: number) =>
  world.helpdesk.deliveries.filter(({ event, body }) => event === 'message_updated' && 'id' in body && body.id === id)

test('the helpdesk’s marking, our own, its extra change for sound and its transcription send nothing; Retry once', async () => {
  const quirks = { ...calm, twice: 1, retryTwice: 1 }
  await using world = await AgentWorld.open({ helpdesk: { quirks, enterprise: true, transcribeAudio: true } })
  world.network.fault({ kind: 'ack_error', code: 404 })
  const id = await attach(world, '', [mp3])
  await failed(world, id)
  await waitUntil('four changes are told, each of them twice', () => updates(world, id).length >= 8)
  await world.helpdesk.settled()
  assert.equal(world.bob.messages.length, 0)
  await retry(world, id)
  await waitUntil('it has arrived', () => world.bob.messages.length > 0)
  await world.helpdesk.settled()
  await world.post(world.callback(9000, 'the end'))
  await world.received('the end')
  assert.equal(world.bob.messages.length, 2)
  const { sent, failed: lost } = await world.outbox()
  assert.deepEqual([sent, lost], [2, 0])
})

test('what failed while the service was away is sent on Retry', async () => {
  await using world = await AgentWorld.open()
  await world.write('before')
  await world.received('before')
  await world.stop()
  const id = await world.write('while away')
  await world.shown(id, ({ status }) => status === 'failed')
  await world.restart()
  await retry(world, id)
  await world.received('while away')
  await world.helpdesk.settled()
  assert.equal((await world.shown(id, () => true)).status, 'sent')
  const late = await world.post(world.callback(id, 'while away'))
  assert.equal((late.body as { reason: string }).reason, 'duplicate', 'should its callback come after all')
  await world.post(world.callback(9000, 'the end'))
  assert.deepEqual(world.texts(), ['before', 'while away', 'the end'])
})

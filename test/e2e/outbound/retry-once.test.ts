// Retry by the agent sends exactly once; nothing else that changes a failed message sends it.

import { OutboundStage } from '../../harness/outbound-stage.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calm } from '../../../sim/helpdesk/settings.ts'
import { attach } from '../../harness/agent-files.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const mp3 = { name: 'a.mp3', type: 'audio/mpeg', bytes: Buffer.concat([Buffer.from('ID3'), Buffer.alloc(500, 0x55)]) }

async function isReported(stage: OutboundStage, id: number): Promise<boolean> {
  const { database } = stage.service
  const rows = await database.read(
    database.query.selectFrom('outbox').select('report').where('message_id', '=', id).where('report', '=', 'done'),
  )
  return rows.length > 0
}

async function failed(stage: OutboundStage, id: number): Promise<void> {
  await waitUntil('the failure is confirmed', () => isReported(stage, id))
  await stage.helpdesk.settled()
}

function retry(stage: OutboundStage, id: number) {
  return stage.agent.post(`/conversations/${stage.conversation}/messages/${id}/retry`)
}

const updates = (stage: OutboundStage, id: number) =>
  stage.helpdesk.deliveries.filter(({ event, body }) => event === 'message_updated' && 'id' in body && body.id === id)

test('the helpdesk’s marking, our own, its extra change for sound and its transcription send nothing; Retry once', async () => {
  const quirks = { ...calm, twice: 1, retryTwice: 1 }
  await using stage = await OutboundStage.open({ helpdesk: { quirks, enterprise: true, transcribeAudio: true } })
  stage.network.fault({ kind: 'ack_error', code: 479 })
  const id = await attach(stage, '', [mp3])
  await failed(stage, id)
  assert.ok(updates(stage, id).length >= 8, 'four changes, each told twice')
  assert.equal(stage.bob.messages.length, 0)
  await retry(stage, id)
  await waitUntil('it has arrived', () => stage.bob.messages.length > 0)
  await stage.helpdesk.settled()
  await stage.post(stage.callback(9000, 'the end'))
  await stage.received('the end')
  assert.equal(stage.bob.messages.length, 2)
  const { sent, failed: lost } = await stage.outbox()
  assert.deepEqual([sent, lost], [2, 0])
})

test('what failed while the service was away is sent on Retry', async () => {
  await using stage = await OutboundStage.open()
  await stage.stop()
  const id = await stage.write('while away')
  await stage.shown(id, ({ status }) => status === 'failed')
  await stage.restart()
  await retry(stage, id)
  await stage.received('while away')
  await stage.helpdesk.settled()
  assert.equal((await stage.shown(id, () => true)).status, 'sent')
  const late = await stage.post(stage.callback(id, 'while away'))
  assert.equal((late.body as { reason: string }).reason, 'duplicate', 'should its callback come after all')
  await stage.post(stage.callback(9000, 'the end'))
  assert.deepEqual(stage.texts(), ['while away', 'the end'])
})

// Retry by the agent sends exactly once; nothing else that changes a failed message sends it.

import { OutboundStage } from '../../harness/outbound-stage.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calm } from '../../../sim/helpdesk/settings.ts'
import { attach } from '../../harness/agent-files.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
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

test('a Retry that is refused again fails again, and may be asked for once more', async () => {
  await using stage = await OutboundStage.open()
  stage.network.fault({ kind: 'ack_error', code: 479, times: 2 })
  const id = await stage.write('third time lucky')
  await failed(stage, id)
  await retry(stage, id)
  await waitUntil('it was refused again', async () => (await stage.outbox())['failed'] === 1)
  const shown = await stage.shown(id, ({ status }) => status === 'failed')
  assert.match(String(shown.contentAttributes['external_error']), /479/)
  await failed(stage, id)
  await retry(stage, id)
  await stage.received('third time lucky')
  const audit = (await stage.service.get('/api/audit?instance=n0')).body as { entries: { action: string }[] }
  assert.equal(audit.entries.filter(({ action }) => action === 'outbox.failed').length, 2)
})

test('Retry while disconnected waits for the connection, and survives a restart', async () => {
  await using stage = await OutboundStage.open()
  stage.network.fault({ kind: 'ack_error', code: 479 })
  const id = await stage.write('later')
  await failed(stage, id)
  await stage.disconnect()
  await retry(stage, id)
  await waitUntil('it waits', async () => (await stage.outbox())['pending'] === 1)
  stage.network.faults.clear()
  await stage.restart()
  await stage.received('later')
  assert.deepEqual(stage.texts(), ['later'])
})

test('Retry of what has expired sends it, once', async () => {
  const clock = new ManualClock(Date.now())
  await using stage = await OutboundStage.open({ clock, helpdesk: { clock } })
  await stage.disconnect()
  const id = await stage.write('late but welcome')
  await waitUntil('it is queued', async () => {
    await stage.passTime(10)
    return (await stage.outbox())['pending'] === 1
  })
  await clock.advance(300_000)
  await waitUntil('the failure is confirmed', async () => {
    await stage.passTime()
    return isReported(stage, id)
  })
  await stage.reconnect()
  assert.deepEqual(stage.texts(), [], 'a connection alone brings nothing back')
  await retry(stage, id)
  await waitUntil('it is sent', async () => {
    await stage.passTime(10)
    return (await stage.outbox())['sent'] === 1
  })
  assert.deepEqual(stage.texts(), ['late but welcome'])
  assert.equal((await stage.outbox())['expired'], 0)
})

test('a message that failed before the end of the process is told by the next one, with its reason', async () => {
  await using stage = await OutboundStage.open()
  await stage.helpdesk.fault({ kind: 'status', status: 500, method: 'PATCH', path: /\/messages\// })
  stage.network.fault({ kind: 'ack_error', code: 479 })
  const id = await stage.write('untold')
  await waitUntil('it has failed', async () => (await stage.outbox())['failed'] === 1)
  await stage.stop()
  await stage.helpdesk.clearFaults()
  await stage.restart()
  const { database } = stage.service
  // It may have been tried before the end, and then waits for 30 s.
  await database.write(database.query.updateTable('outbox').set({ report_at: 0 }).where('report', '=', 'due'))
  await stage.service.app.workers.get('outbox-report')?.tick()
  const shown = await stage.shown(id, ({ contentAttributes: { external_error: error } }) => /479/.test(String(error)))
  assert.equal(shown.status, 'failed')
})

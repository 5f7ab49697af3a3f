// The agent's Retry: for what failed with us, and for what never came to us.

import { OutboundStage } from '../../harness/outbound-stage.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SeenMessage } from '../../../sim/helpdesk/snapshots.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const path = ({ conversation }: OutboundStage, id: number) => `/conversations/${conversation}/messages/${id}`
const retry = (stage: OutboundStage, id: number) => stage.agent.post(`${path(stage, id)}/retry`)
const questions = { method: 'GET', path: /\/messages$/ }

/** Refused by the network, and the helpdesk has been told. */
async function failed(stage: OutboundStage, text: string): Promise<number> {
  stage.network.fault({ kind: 'ack_error', code: 479 })
  const id = await stage.write(text)
  await reported(stage, id)
  return id
}

async function reported(stage: OutboundStage, id: number): Promise<void> {
  const query = stage.service.database.query.selectFrom('outbox').select('report').where('message_id', '=', id)
  await waitUntil('the failure is reported', async () => {
    await stage.passTime()
    const reports = await stage.service.database.read(query)
    return reports.length > 0 && reports.every(({ report }) => report === 'done')
  })
  await stage.helpdesk.settled()
}

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

test('a change of a message that is still on its way sends it once', async () => {
  await using stage = await OutboundStage.open()
  const id = await stage.write('once', { private: true })
  const created_at = new Date().toISOString()
  await stage.helpdesk.fault({ kind: 'status', status: 500, ...questions, times: 1 })
  const updated = await stage.post({ ...stage.callback(id, 'once', { created_at }), event: 'message_updated' })
  const created = await stage.post(stage.callback(id, 'once', { created_at }))
  assert.deepEqual([updated.status, created.status], [200, 200])
  await stage.received('once')
  const query = stage.service.database.query.selectFrom('outbox').select('id').where('report', '=', 'asked')
  await waitUntil('it was looked at', async () => (await stage.service.database.read(query)).length === 0)
  await stage.post(stage.callback(9000, 'the end'))
  assert.deepEqual(stage.texts(), ['once', 'the end'])
})

test('a contact without a number: refused, refused again, and sent when the number is there', async () => {
  await using stage = await OutboundStage.open()
  const { body: contact } = await stage.desk.post('/contacts', { inbox_id: 1, name: 'Maria', identifier: 'crm-5' })
  const { id: contactId } = (contact['payload'] as { contact: { id: number } }).contact
  const { body: opened } = await stage.desk.post('/conversations', {
    ...{ inbox_id: 1, contact_id: contactId, source_id: 'crm-5' },
  })
  const conversation = opened.id
  const id = await stage.write('for nobody', {}, conversation)
  const isRefused = ({ status, contentAttributes: { external_error: error } }: SeenMessage) =>
    status === 'failed' && /no phone number/.test(String(error))
  await stage.shown(id, isRefused)
  const again = () => stage.agent.post(`/conversations/${conversation}/messages/${id}/retry`)
  await again()
  await stage.shown(id, ({ status }) => status === 'sent')
  await stage.shown(id, isRefused)
  await reported(stage, id)
  await stage.desk.patch(`/contacts/${contactId}`, { phone_number: '+5511888880001' })
  await again()
  await stage.received('for nobody')
})

test('a helpdesk that cannot be asked is asked again, also by the next process', async () => {
  await using stage = await OutboundStage.open()
  const id = await failed(stage, 'second try')
  await stage.helpdesk.fault({ kind: 'status', status: 500, ...questions })
  await retry(stage, id)
  await stage.helpdesk.settled()
  const inVain = () => stage.service.logs.withMessage('the helpdesk could not be asked about a message').length
  await waitUntil('it was asked in vain', () => inVain() > 0)
  await stage.restart()
  await stage.helpdesk.clearFaults()
  await stage.received('second try')
  assert.deepEqual(stage.texts(), ['second try'])
})

test('a helpdesk that cannot be asked for 5 minutes shows the message as failed again', async () => {
  const clock = new ManualClock(Date.now())
  await using stage = await OutboundStage.open({ clock, helpdesk: { clock } })
  const id = await failed(stage, 'second try')
  await stage.helpdesk.fault({ kind: 'status', status: 500, ...questions })
  await retry(stage, id)
  await stage.shown(id, ({ status }) => status === 'sent')
  let isFailed = false
  void stage.shown(id, ({ status }) => status === 'failed').then(() => (isFailed = true))
  await waitUntil('it is shown as failed', async () => {
    await stage.passTime(10_000)
    return isFailed
  })
  assert.deepEqual(stage.texts(), [])
})

test('a message deleted after its Retry is not sent', async () => {
  await using stage = await OutboundStage.open()
  const id = await failed(stage, 'second try')
  await stage.helpdesk.fault({ kind: 'status', status: 500, ...questions })
  await retry(stage, id)
  await stage.helpdesk.settled()
  await stage.agent.delete(path(stage, id))
  await stage.helpdesk.settled()
  await stage.helpdesk.clearFaults()
  await reported(stage, id)
  await stage.post(stage.callback(9000, 'the end'))
  assert.deepEqual(stage.texts(), ['the end'])
})

test('of a message older than the instance nobody knows whether it was sent', async () => {
  await using stage = await OutboundStage.open()
  const { database } = stage.service
  await database.write(database.query.updateTable('instances').set({ created_at: Date.now() + 3_600_000 }))
  await stage.stop()
  const id = await stage.write('by somebody else')
  await stage.shown(id, ({ status }) => status === 'failed')
  await stage.restart()
  await retry(stage, id)
  await stage.shown(id, ({ contentAttributes: { external_error: error } }) => /look on the phone/.test(String(error)))
  assert.deepEqual(stage.texts(), [])
})

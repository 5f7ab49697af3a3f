// The agent's Retry: for what failed with us, and for what never came to us; nothing else sends a failed message.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DownstreamError } from '../../../src/core/downstream.ts'
import type { AgentMessage } from './harness/agent-desk.ts'
import { OutboundBed } from './harness/outbound-bed.ts'
import { auditOf, metricOf, reported, rowOf } from './harness/views.ts'

/** Refused by the network, and the helpdesk has been told. */
async function failed(bed: OutboundBed, text: string): Promise<number> {
  bed.network.fault({ kind: 'ack_error', code: 479 })
  const id = await bed.write(text)
  await reported(bed, id)
  return id
}

/** The helpdesk does not say what it shows of a message. */
function silence(bed: OutboundBed): void {
  bed.helpdesk.script = (call) => {
    if (call === 'findMessage') throw new DownstreamError('transient', 'HTTP 500')
  }
}

function answer(bed: OutboundBed): void {
  bed.helpdesk.script = () => undefined
}

async function assertArrived(bed: OutboundBed, texts: string[]): Promise<void> {
  assert.equal((await bed.post(bed.callback(9000, 'the end'))).status, 200)
  assert.deepEqual(bed.texts(), [...texts, 'the end'])
}

test('a change of a failed message is no Retry while the helpdesk shows it failed', async () => {
  await using bed = await OutboundBed.open()
  const id = await failed(bed, 'stays failed')
  const update = { ...bed.callback(id, 'stays failed'), event: 'message_updated' }
  await bed.post(update)
  await bed.post({ ...update, content_attributes: { external_error: 'x' } })
  await bed.settle()
  await assertArrived(bed, [])
})

test('Retry of a message that the spamguard blocked sends it', async () => {
  await using bed = await OutboundBed.open()
  bed.change('n0', { isSpamguardEnabled: true })
  await bed.write('a message that is long enough')
  assert.deepEqual(bed.texts(), ['a message that is long enough'])
  const id = await bed.write('A message that is  *long* enough')
  await reported(bed, id)
  const refused = await bed.post(bed.callback(id, 'A message that is  *long* enough'))
  assert.deepEqual([refused.status, (refused.body as { status: string }).status], [422, 'blocked'])
  assert.equal(bed.accounts.get('n0').record.spamguardBlocks, 1)
  assert.equal(await metricOf(bed, 'service_spamguard_blocks_total{instance="n0",owner_tag=""}'), 1)
  await bed.desk.retry(id)
  await bed.until('both are sent', async () => (await bed.outbox()).sent === 2)
  await bed.restart()
  const again = await bed.post(bed.callback(9001, 'a message that is long enough'))
  assert.equal(again.status, 422, 'known across a restart')
  assert.equal((await bed.post(bed.callback(9002, 'another message, long enough'))).status, 200)
  assert.equal((await bed.post(bed.callback(9003, 'a message that is long enough'))).status, 200)
})

test('a failed message does not arm the spamguard', async () => {
  await using bed = await OutboundBed.open()
  bed.change('n0', { isSpamguardEnabled: true })
  bed.network.fault({ kind: 'ack_error', code: 479 })
  assert.equal((await bed.post(bed.callback(1, 'long enough to be judged'))).status, 500)
  assert.equal((await bed.post(bed.callback(2, 'long enough to be judged'))).status, 200)
})

test('a Retry that is refused again fails again, and may be asked for once more', async () => {
  await using bed = await OutboundBed.open()
  const id = await failed(bed, 'third time lucky')
  bed.network.fault({ kind: 'ack_error', code: 479 })
  await bed.desk.retry(id)
  await bed.until('it was refused again', async () => (await auditOf(bed)).filter(isFailure).length === 2)
  assert.match(await reported(bed, id), /479/)
  await bed.desk.retry(id)
  await bed.received('third time lucky')
  assert.equal((await auditOf(bed)).filter(isFailure).length, 2)
})

const isFailure = (action: string) => action === 'outbox.failed'

test('Retry while disconnected waits for the connection, and survives a restart', async () => {
  await using bed = await OutboundBed.open()
  const id = await failed(bed, 'later')
  bed.disconnect()
  await bed.desk.retry(id)
  await bed.until('it waits', async () => (await bed.outbox()).pending === 1)
  await bed.restart()
  await bed.received('later')
  assert.deepEqual(bed.texts(), ['later'])
})

test('Retry of an expired message sends it, once', async () => {
  await using bed = await OutboundBed.open()
  bed.disconnect()
  const id = await bed.write('late but welcome')
  assert.equal((await bed.outbox()).pending, 1)
  await bed.pass(300_000)
  await reported(bed, id)
  bed.connect()
  await bed.settle()
  assert.deepEqual(bed.texts(), [], 'a connection alone brings nothing back')
  await bed.desk.retry(id)
  await bed.until('it is sent', async () => (await bed.outbox()).sent === 1)
  assert.deepEqual(bed.texts(), ['late but welcome'])
  assert.equal((await bed.outbox()).expired, 0)
})

test('the next process reports a message that failed before, with its reason', async () => {
  await using bed = await OutboundBed.open()
  bed.network.fault({ kind: 'ack_error', code: 479 })
  const id = await bed.write('untold')
  await bed.until('it has failed', async () => (await bed.outbox()).failed === 1, { stepMs: 0 })
  await bed.restart()
  const shown = await bed.shown(id, ({ contentAttributes: { external_error: error } }) => /479/.test(String(error)))
  assert.equal(shown.status, 'failed')
})

test('a change of a message whose callback is still on its way sends it once', async () => {
  await using bed = await OutboundBed.open()
  await bed.write('the first callback', { private: true })
  const id = await bed.write('once', { private: true })
  const created_at = new Date(bed.clock.now()).toISOString()
  silence(bed)
  const updated = await bed.post({ ...bed.callback(id, 'once', { created_at }), event: 'message_updated' })
  const created = await bed.post(bed.callback(id, 'once', { created_at }))
  assert.deepEqual([updated.status, created.status], [200, 200])
  answer(bed)
  await bed.received('once')
  await bed.until('the request is gone', async () => (await rowOf(bed, id)).count === 1)
  await assertArrived(bed, ['once'])
})

test('a contact without a number: refused, refused again, and sent when the number is there', async () => {
  await using bed = await OutboundBed.open()
  const maria = { id: 900, name: 'Maria', identifier: 'crm-5', phone: null as string | null, sourceId: 'crm-5' }
  const { contacts } = bed.helpdesk
  contacts.push({ ...maria, elsewhere: false, created: true, isNewHere: true, destination: 'http://desk|1|1' })
  const { id: conversation } = await bed.helpdesk.openConversation('http://desk|1|1', 'crm-5')
  const id = await bed.write('for nobody', {}, conversation)
  const isRefused = ({ status, contentAttributes: { external_error: error } }: AgentMessage) =>
    status === 'failed' && /no phone number/.test(String(error))
  await bed.shown(id, isRefused)
  await bed.desk.retry(id)
  assert.equal(bed.desk.message(id).status, 'sent')
  await bed.shown(id, isRefused)
  await reported(bed, id)
  const contact = contacts.find((each) => each.id === 900)
  assert.ok(contact)
  contact.phone = '+5511888880001'
  await bed.desk.retry(id)
  await bed.received('for nobody')
})

test('a helpdesk that cannot be asked is asked again, also by the next process', async () => {
  await using bed = await OutboundBed.open()
  const id = await failed(bed, 'second try')
  silence(bed)
  await bed.desk.retry(id)
  const inVain = () => bed.logs.withMessage('the helpdesk could not be asked about a message').length
  await bed.until('it was asked in vain', () => inVain() > 0)
  await bed.restart()
  answer(bed)
  await bed.received('second try')
  assert.deepEqual(bed.texts(), ['second try'])
})

test('a helpdesk that cannot be asked for 5 minutes shows the message as failed again', async () => {
  await using bed = await OutboundBed.open()
  const id = await failed(bed, 'second try')
  silence(bed)
  await bed.desk.retry(id)
  await bed.pass(300_000)
  assert.equal(bed.desk.message(id).status, 'sent')
  answer(bed)
  await bed.until('it is shown as failed', () => bed.desk.message(id).status === 'failed', { stepMs: 10_000 })
  assert.deepEqual(bed.texts(), [])
})

/** The agent presses Retry while our reason is on its way to the helpdesk. */
function retryDuringChange(bed: OutboundBed): void {
  const { agents } = bed.helpdesk
  let isPressed = false
  bed.helpdesk.agents = {
    ...agents,
    setStatus: async (...change) => {
      if (!isPressed) await bed.desk.retry(change[1])
      isPressed = true
      await agents.setStatus(...change)
    },
  }
}

test('a Retry that our reason overtakes sends the message, and the failure is no longer shown', async () => {
  await using bed = await OutboundBed.open()
  retryDuringChange(bed)
  bed.network.fault({ kind: 'ack_error', code: 479 })
  const id = await bed.write('second try')
  await bed.received('second try')
  await bed.until('it is shown as sent', () => bed.desk.message(id).status === 'sent')
  await bed.pass(60_000)
  assert.deepEqual([bed.texts(), bed.desk.message(id).status], [['second try'], 'sent'])
})

test('a change of a message with a file while our reason is on its way is no Retry', async () => {
  await using bed = await OutboundBed.open()
  retryDuringChange(bed)
  bed.disconnect()
  const id = await bed.write('listen', { attachments: [{ id: 1, file_type: 'audio', data_url: 'http://desk/1' }] })
  await bed.pass(300_000)
  await reported(bed, id)
  bed.connect()
  await bed.pass(60_000)
  assert.deepEqual([bed.texts(), bed.desk.message(id).status], [[], 'failed'])
})

test('a message deleted after its Retry is not sent', async () => {
  await using bed = await OutboundBed.open()
  const id = await failed(bed, 'second try')
  silence(bed)
  await bed.desk.retry(id)
  await bed.desk.delete(id)
  answer(bed)
  await bed.until('the failure is confirmed', async () => (await rowOf(bed, id)).look_at === null)
  await assertArrived(bed, [])
})

test('a change of a message that was written before the first callback does nothing', async () => {
  await using bed = await OutboundBed.open()
  await bed.stop()
  const id = await bed.write('by somebody else')
  assert.equal(bed.desk.message(id).status, 'failed')
  await bed.start()
  await bed.pass(1000)
  await bed.desk.retry(id)
  await bed.pass(20_000)
  assert.deepEqual([bed.texts(), bed.desk.message(id).status, bed.desk.marks], [[], 'sent', []])
})

test('Retry of a message that never came to us and lacks a file does not send it, and says why', async () => {
  await using bed = await OutboundBed.open()
  await bed.write('the first callback', { private: true })
  await bed.stop()
  const id = await bed.write('see', { attachments: [{ id: 1, file_type: 'file' }] })
  await bed.start()
  await bed.pass(20_000)
  await bed.desk.retry(id)
  assert.equal(bed.desk.message(id).status, 'sent')
  await bed.shown(id, ({ status, contentAttributes: { external_error: error } }) => {
    return status === 'failed' && /where to fetch an attached file/.test(String(error))
  })
  await assertArrived(bed, [])
})

test('Retry of a message from before its instance was created anew does not send it, and says why', async () => {
  await using bed = await OutboundBed.open({ accounts: 2 })
  const id = await failed(bed, 'from the account before')
  await bed.remove()
  await bed.clock.advance(1000)
  bed.accounts.add('n0', '5511900000009')
  bed.accounts.get('n0').change({ createdAt: bed.clock.now() })
  bed.connect('n0')
  await bed.desk.retry(id)
  await bed.shown(id, ({ status, contentAttributes: { external_error: error } }) => {
    return status === 'failed' && /created after this message/.test(String(error))
  })
  await assertArrived(bed, [])
})

test('Retry of a message whose instance is deleted does not send it, and says why', async () => {
  const deleted = 'the instance was deleted'
  await using bed = await OutboundBed.open({ accounts: 2 })
  const id = await failed(bed, 'from a deleted account')
  await bed.remove()
  Object.assign(bed.desk.message(id), { status: 'sent', contentAttributes: {} })
  // Another instance of the same helpdesk inbox gets the change.
  const change = { ...bed.callback(id, 'from a deleted account'), event: 'message_updated' }
  await bed.post(change, { instance: 'n1' })
  const isTold = () => bed.desk.marks.some(({ status, reason }) => status === 'failed' && reason === deleted)
  await bed.until('the helpdesk is told', isTold)
  assert.deepEqual(bed.texts(), [])
})

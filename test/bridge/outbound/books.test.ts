// After all kinds of messages the books agree: answers, outbox, helpdesk, audit, usage, metrics and events.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SendError } from '../../../src/core/network.ts'
import { engines } from '../../harness/databases.ts'
import { attach, textFile } from './harness/attach-files.ts'
import { OutboundBed } from './harness/outbound-bed.ts'
import { announced, auditOf, metricOf, reported, shownTo } from './harness/views.ts'

for (const engine of engines) {
  test(`sent, refused, blocked, repeated and private, on ${engine}`, async () => {
    await using bed = await OutboundBed.open({ engine })
    bed.change('n0', { isSpamguardEnabled: true })
    const written = [await bed.write('a first long message')]
    written.push(await attach(bed, 'two files', [textFile('a.txt'), textFile('b.txt')]))
    bed.network.fault({ kind: 'ack_error', code: 479 })
    const refused = await bed.write('refused by the network')
    await reported(bed, refused)
    const original = await bed.write('say it once, please')
    const blocked = await bed.write('Say it  once, please')
    assert.match(await reported(bed, blocked), /30 seconds/)
    await bed.write('only for us', { private: true })
    await bed.post(bed.callback(original, 'say it once, please'))
    await bed.until('all are settled', async () => (await bed.outbox()).sent === 3)

    assert.deepEqual(shownTo(bed), ['a first long message', 'a.txt: two files', 'b.txt', 'say it once, please'])
    const { sent, failed, expired, pending } = await bed.outbox()
    assert.deepEqual({ sent, failed, expired, pending }, { sent: 3, failed: 1, expired: 0, pending: 0 })
    const labels = 'instance="n0",owner_tag=""'
    assert.equal(await metricOf(bed, `service_messages_total{direction="out",${labels}}`), 4)
    assert.equal(await metricOf(bed, `service_spamguard_blocks_total{${labels}}`), 1)
    const errors = 'service_message_dispatch_errors_total{direction="out",instance="n0",kind="text",owner_tag=""}'
    assert.equal(await metricOf(bed, errors), 1)
    const { messages_out, spamguard_blocks } = await bed.process.usage.totals()
    assert.deepEqual([messages_out, spamguard_blocks], [4, 1])
    const actions = (await auditOf(bed)).filter((action) => action.startsWith('outbox.'))
    assert.deepEqual(actions, ['outbox.failed'])
    assert.deepEqual([announced(bed, 'spam_blocked'), announced(bed, 'outgoing_expired')], [1, 0])
    const { samples, ratio } = bed.process.outbound.banRisk.snapshot('n0')
    assert.deepEqual([samples, ratio], [5, 0.8])
    const statuses = [...written, original, refused, blocked].map((id) => bed.desk.message(id).status)
    assert.deepEqual(statuses, ['sent', 'sent', 'sent', 'failed', 'failed'])
  })
}

test('a number that could not be checked does not count as a number without WhatsApp', async () => {
  await using bed = await OutboundBed.open()
  const joao = bed.network.person({ phone: '553188887777', name: 'João' })
  const conversation = { id: 50, inbox_id: 1, meta: { sender: { phone_number: '+5531988887777' } } }
  let failures = 1
  bed.network.beforeLookUp = () => {
    if (failures-- > 0) throw new SendError('not_sent', 'the network answered 500')
  }
  const first = bed.post(bed.callback(1, 'olá', { conversation }))
  await bed.until('it was asked in vain', () => failures === 0, { stepMs: 0 })
  await bed.pass(3800)
  assert.equal((await first).status, 202)
  await bed.received('olá', joao)
  const eve = bed.network.person({ phone: '5511888880002' })
  const silence = Promise.withResolvers<undefined>()
  bed.network.beforeLookUp = () => silence.promise
  const to = { id: 51, inbox_id: 1, meta: { sender: { phone_number: '+5511888880002' } } }
  const second = bed.post(bed.callback(2, 'hello', { conversation: to }))
  await bed.until('it is asked', () => bed.network.lookUps.includes('5511888880002'), { stepMs: 0 })
  await bed.pass(4000)
  assert.equal((await second).status, 202)
  bed.network.beforeLookUp = () => undefined
  silence.reject(new SendError('not_sent', 'the network did not answer'))
  await bed.received('hello', eve)
  await bed.until('both are settled', async () => (await bed.outbox()).sent === 2)
})

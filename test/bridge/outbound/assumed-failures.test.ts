// Our answer says that a message is not sent. Whether and when the helpdesk shows that as a failure, only the helpdesk says:
// a message that the helpdesk shows as sent is sent again only when the agent pressed Retry.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DownstreamError } from '../../../src/core/downstream.ts'
import type { MessageStatus } from '../../../src/core/helpdesk/message.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { OutboundBed } from './harness/outbound-bed.ts'
import { rowOf } from './harness/views.ts'

const offer = 'buy now, our offer of the week ends tonight at eight'
const writtenNow = (bed: OutboundBed) => ({ created_at: new Date(bed.clock.now()).toISOString() })

/** A helpdesk that makes no failure of our answers by itself. */
function slowDesk(bed: OutboundBed) {
  const status = new Map<number, MessageStatus>()
  const marks: string[] = []
  bed.helpdesk.agents = {
    ...bed.helpdesk.agents,
    findMessage: (_, id) => {
      const shown = status.get(id) ?? 'sent'
      return Promise.resolve({ id, sourceId: null, status: shown, createdAt: bed.clock.now(), isDeleted: false })
    },
    setStatus: (_, id, to) => {
      marks.push(`${id} ${to}`)
      status.set(id, to)
      return Promise.resolve()
    },
  }
  const told = (id: number, content: string, error: string | null) =>
    bed.post({
      ...bed.callback(id, content, { ...writtenNow(bed), content_attributes: { external_error: error } }),
      event: 'message_updated',
    })
  return { status, marks, told }
}

/** The spamguard has refused the second offer. */
async function blocked(bed: OutboundBed, id: number): Promise<void> {
  bed.change('n0', { isSpamguardEnabled: true })
  await bed.post(bed.callback(101, offer, writtenNow(bed)))
  await bed.pass(3000)
  assert.equal((await bed.post(bed.callback(id, offer, writtenNow(bed)))).status, 422)
}

test('a blocked message that the helpdesk does not mark is marked by us, and not sent', async () => {
  await using bed = await OutboundBed.open()
  const { marks } = slowDesk(bed)
  await blocked(bed, 102)
  await bed.until('it is marked', () => marks.length > 0)
  for (let n = 0; n < 10; n++) await bed.pass(1500)
  assert.deepEqual([bed.texts(), marks], [[offer], ['102 failed']])
})

test('our reason is told a second after our answer, when the helpdesk has written its own', async () => {
  await using bed = await OutboundBed.open()
  const { status, marks } = slowDesk(bed)
  await blocked(bed, 102)
  await bed.pass(999)
  assert.deepEqual(marks, [])
  status.set(102, 'failed')
  await bed.clock.advance(1)
  await waitUntil('it is told', () => marks.length > 0)
  assert.deepEqual([marks, bed.texts()], [['102 failed'], [offer]])
})

test('a message that a full queue refused is not sent when the helpdesk marks it later', async () => {
  await using bed = await OutboundBed.open()
  const { status, told } = slowDesk(bed)
  bed.disconnect()
  for (let n = 0; n < 200; n += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, i) => bed.post(bed.callback(1000 + n + i, `waits ${n + i}`))))
  }
  assert.equal((await bed.post(bed.callback(5000, 'one too many', writtenNow(bed)))).status, 503)
  await bed.pass(2000)
  status.set(5000, 'failed')
  await told(5000, 'one too many', '503 Service Unavailable')
  for (let n = 0; n < 4; n++) await bed.pass(1500)
  bed.connect()
  await bed.until('the queue is empty', async () => (await bed.outbox()).pending === 0, { stepMs: 1000 })
  for (let n = 0; n < 10; n++) await bed.pass(1500)
  assert.ok(!bed.texts().includes('one too many'))
})

test('a change within a second of the refusal is no Retry when the helpdesk shows the failure by then', async () => {
  await using bed = await OutboundBed.open()
  const { status, told } = slowDesk(bed)
  await blocked(bed, 102)
  await told(102, offer, null)
  await bed.pass(300)
  status.set(102, 'failed')
  await bed.pass(5000)
  assert.deepEqual(bed.texts(), [offer])
  assert.equal((await rowOf(bed, 102)).shown, 'told')
})

test('a Retry within a second of the refusal sends the message', async () => {
  await using bed = await OutboundBed.open()
  const { status, told } = slowDesk(bed)
  await blocked(bed, 102)
  status.set(102, 'failed')
  await told(102, offer, '422 Unprocessable Entity')
  await bed.pass(300)
  status.set(102, 'sent')
  await told(102, offer, null)
  await bed.until('it is sent', () => bed.texts().length === 2)
  assert.equal(status.get(102), 'sent')
})

test('a Retry whose callback is lost is noticed when the helpdesk has told of the failure before', async () => {
  await using bed = await OutboundBed.open()
  const { status, told } = slowDesk(bed)
  await blocked(bed, 102)
  status.set(102, 'failed')
  await told(102, offer, '422 Unprocessable Entity')
  status.set(102, 'sent')
  await bed.until('it is sent', () => bed.texts().length === 2)
})

test('a failure at a helpdesk that cannot be asked for a day counts as shown: a Retry after that sends the message', async () => {
  await using bed = await OutboundBed.open()
  const { status, told } = slowDesk(bed)
  await blocked(bed, 102)
  bed.helpdesk.script = (call) => {
    if (call === 'findMessage') throw new DownstreamError('transient', 'HTTP 500')
  }
  bed.clock.freeze(24 * 3_600_000)
  await bed.until('no look is planned', async () => (await rowOf(bed, 102)).look_at === null)
  assert.equal((await rowOf(bed, 102)).shown, 'failed')
  bed.helpdesk.script = () => undefined
  status.set(102, 'sent')
  await told(102, offer, null)
  await bed.until('it is sent', () => bed.texts().length === 2)
})

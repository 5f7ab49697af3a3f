// Messages of several parts, of which some are refused and some left in doubt.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DownstreamError } from '../../../src/core/downstream.ts'
import { attach, textFile } from './harness/attach-files.ts'
import { OutboundBed } from './harness/outbound-bed.ts'
import { metricOf, reported, rowOf, shownTo } from './harness/views.ts'

const three = ['a.txt', 'b.txt', 'c.txt'].map((name) => textFile(name))

/** The network refuses this frame. */
function refuse(bed: OutboundBed, refused: number, code: number): void {
  bed.network.beforeFrame = (frame) => {
    if (frame === refused) bed.network.fault({ kind: 'ack_error', code })
  }
}

/** The network takes this frame and never says so: the connection dies first. */
function dieAfter(bed: OutboundBed, last: number): void {
  bed.network.beforeFrame = (frame) => {
    if (frame === last) bed.network.fault({ kind: 'lost_ack' })
  }
  bed.network.afterFrame = (frame) => {
    if (frame === last) bed.disconnect()
  }
}

const reaches = (bed: OutboundBed, id: number, status: string) =>
  bed.until(`the message is ${status}`, async () => (await rowOf(bed, id)).status === status, {
    instead: () => shownTo(bed),
  })

const answerTo = (bed: OutboundBed, id: number) => bed.desk.deliveries.find((each) => each.id === id)?.answer

test('one refused file delays neither the files after it nor the answer, which names it', async () => {
  await using bed = await OutboundBed.open()
  bed.network.fault({ kind: 'ack_error', code: 479 })
  const id = await attach(bed, '', three)
  assert.equal(answerTo(bed, id)?.status, 500)
  assert.match(await reported(bed, id), /^part 1 of 3: .*479/)
  assert.deepEqual(shownTo(bed), ['b.txt', 'c.txt'])
  const lost = 'service_message_dispatch_errors_total{direction="out",instance="n0",kind="media",owner_tag=""}'
  assert.equal(await metricOf(bed, lost), 1)
})

test('a restriction ends the message: no further part is tried', async () => {
  await using bed = await OutboundBed.open()
  refuse(bed, 2, 463)
  const id = await attach(bed, '', three)
  assert.match(await reported(bed, id), /^parts 2, 3 of 3: WhatsApp has restricted this account/)
  assert.deepEqual((await rowOf(bed, id)).states, ['sent', 'refused', 'new'])
  assert.deepEqual(shownTo(bed), ['a.txt'])
})

test('three files, the connection dying after the third: answered as queued, then only the third is repeated', async () => {
  await using bed = await OutboundBed.open()
  dieAfter(bed, 3)
  const id = await attach(bed, '', three)
  assert.equal(answerTo(bed, id)?.status, 202)
  await reaches(bed, id, 'pending')
  assert.deepEqual((await rowOf(bed, id)).states, ['sent', 'sent', 'unknown'])
  bed.connect()
  await reaches(bed, id, 'sent')
  assert.deepEqual(shownTo(bed), ['a.txt', 'b.txt', 'c.txt'])
  assert.equal(bed.network.duplicates, 1)
  assert.equal((await bed.shown(id, () => true)).status, 'sent')
})

test('a file that cannot be fetched is named, and the others are not sent again by Retry', async () => {
  await using bed = await OutboundBed.open()
  bed.helpdesk.beforeDownload = (url) => {
    if (url.endsWith('big.txt')) throw new DownstreamError('permanent', 'larger than SERVICE_MEDIA_MAX_BYTES')
  }
  const id = await attach(bed, '', [textFile('a.txt'), textFile('big.txt'), textFile('c.txt')])
  assert.match(await reported(bed, id), /^part 2 of 3: big\.txt .*SERVICE_MEDIA_MAX_BYTES/)
  assert.deepEqual((await rowOf(bed, id)).states, ['sent', 'refused', 'sent'])
  await bed.desk.retry(id)
  const rows = () => rowOf(bed, id)
  await bed.until('Retry is taken up', async () => (await rows()).shown !== 'told')
  await bed.until('it has failed again', async () => {
    const { shown, status } = await rows()
    return status === 'failed' && shown === 'told'
  })
  assert.deepEqual(shownTo(bed), ['a.txt', 'c.txt'])
})

test('a part that may have arrived keeps its id, also when the repeat is refused: Retry shows nothing twice', async () => {
  await using bed = await OutboundBed.open()
  dieAfter(bed, 1)
  const id = await bed.write('in doubt')
  await reaches(bed, id, 'pending')
  refuse(bed, 2, 479)
  bed.connect()
  assert.match(await reported(bed, id), /could not be confirmed/)
  assert.deepEqual((await rowOf(bed, id)).states, ['unknown'])
  await bed.desk.retry(id)
  await reaches(bed, id, 'sent')
  assert.equal((await bed.post(bed.callback(9000, 'the end'))).status, 200)
  assert.deepEqual(bed.texts(), ['in doubt', 'the end'])
})

for (const { name, files, states } of [
  { name: 'a text that may have left', files: [], states: ['unknown'] },
  { name: 'a message of two files whose first may have left', files: three.slice(0, 2), states: ['unknown', 'new'] },
]) {
  test(`${name} is repeated at its first address, also when the customer has written from another one`, async () => {
    await using bed = await OutboundBed.open()
    await bed.hears('hi')
    dieAfter(bed, 1)
    const id = files.length > 0 ? await attach(bed, '', files) : await bed.write('in doubt')
    await reaches(bed, id, 'pending')
    assert.deepEqual((await rowOf(bed, id)).states, states)
    // Messages that are stored in the same millisecond have no order.
    await bed.pass(1)
    await bed.hears('are you there?', { chat: { kind: 'person', phone: null, lid: bed.bob.lid } })
    bed.connect()
    await reaches(bed, id, 'sent')
    assert.deepEqual([shownTo(bed).length, bed.network.duplicates], [states.length, 1])
    await bed.write('the next message')
    const addresses = bed.network.to(bed.bob).map(({ to }) => to.split('@')[1])
    assert.deepEqual(addresses, [...states.map(() => 's.whatsapp.net'), 'lid'])
  })
}

test('a message that the network refused was not sent: Retry sends it under another id', async () => {
  await using bed = await OutboundBed.open()
  await bed.hears('hi')
  bed.network.fault({ kind: 'ack_error', code: 479 })
  const id = await bed.write('refused at once')
  await reported(bed, id)
  const before = await rowOf(bed, id)
  assert.deepEqual(before.states, ['refused'])
  await bed.desk.retry(id)
  await reaches(bed, id, 'sent')
  assert.notEqual((await bed.received('refused at once')).id, before.parts[0]?.id)
})

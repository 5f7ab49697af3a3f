// Attempts to send: refusals, missing acknowledgements, lost connections, the order of a chat and the places of files.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endTextThreads } from '../../harness/text-threads.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { attach, stored, textFile } from './harness/attach-files.ts'
import { OutboundBed } from './harness/outbound-bed.ts'
import { metricOf, rowOf, shownTo } from './harness/views.ts'

const lostMessages = 'service_message_dispatch_errors_total{direction="out",instance="n0",kind="text",owner_tag=""}'

/** A conversation with another customer. */
function other(bed: OutboundBed, phone: string) {
  const customer = bed.network.person({ phone })
  return { customer, conversation: { id: Number(phone), inbox_id: 1, meta: { sender: { phone_number: `+${phone}` } } } }
}

const reaches = (bed: OutboundBed, id: number, status: string) =>
  bed.until(`${id} is ${status}`, async () => (await rowOf(bed, id)).status === status, { stepMs: 0 })

test('five attempts after 5, 10, 20 and 40 s under one id, then "could not be confirmed"', async () => {
  await using bed = await OutboundBed.open()
  bed.network.fault({ kind: 'in_doubt', times: 5 })
  const times: number[] = []
  bed.network.beforeFrame = () => times.push(bed.clock.monotonic() / 1000)
  void bed.post(bed.callback(1, 'x'))
  await bed.until('it has failed', async () => (await rowOf(bed, 1)).status === 'failed', { stepMs: 1000 })
  assert.deepEqual([bed.texts(), bed.network.duplicates], [['x'], 4], 'one id in all attempts')
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0))
  for (const [index, expected] of [5, 10, 20, 40].entries()) {
    assert.ok(Math.abs((gaps[index] ?? 0) - expected) <= 1, `pauses were ${gaps.join(', ')} s`)
  }
  assert.match((await rowOf(bed, 1)).reason ?? '', /could not be confirmed/)
})

test('attempts that the process itself ends do not count: after four others the message is sent once', async () => {
  await using bed = await OutboundBed.open()
  bed.network.fault({ kind: 'in_doubt', times: 4 })
  void bed.post(bed.callback(1, 'x'))
  await bed.until('it was tried four times', () => bed.network.frames === 4, { stepMs: 1000 })
  bed.network.silent.add('n0')
  for (let frames = 5; frames <= 10; frames++) {
    await bed.until('it is under way', () => bed.network.frames === frames, { stepMs: 1000 })
    if (frames === 10) bed.network.silent.delete('n0')
    await bed.restart()
  }
  await bed.until('it is sent', async () => (await rowOf(bed, 1)).status === 'sent', { stepMs: 1000 })
  assert.deepEqual([bed.texts(), (await rowOf(bed, 1)).attempts], [['x'], 5])
})

test('a long text whose thread ends again and again is sent whole by a later attempt', async () => {
  await using bed = await OutboundBed.open()
  const text = 'x'.repeat(3000)
  {
    using ended = await endTextThreads()
    void bed.post(bed.callback(1, text))
    await waitUntil('two attempts were made', async () => {
      await bed.pass(1000)
      return ended.count >= 4
    })
  }
  await bed.until('it is sent', async () => (await rowOf(bed, 1)).status === 'sent', { stepMs: 1000 })
  assert.deepEqual(bed.texts(), [text])
})

test('a refusal fails at once, and the next message of the chat goes on', async () => {
  await using bed = await OutboundBed.open()
  bed.network.fault({ kind: 'ack_error', code: 479 })
  const answers = await Promise.all([bed.post(bed.callback(1, 'x')), bed.post(bed.callback(2, 'y'))])
  assert.deepEqual(
    answers.map(({ status }) => status),
    [500, 200],
  )
  const { status, attempts } = await rowOf(bed, 1)
  assert.deepEqual([status, attempts], ['failed', 1])
  assert.equal(await metricOf(bed, lostMessages), 1)
  assert.deepEqual(bed.texts(), ['y'])
})

test('messages of one chat never overtake each other, messages of other chats are not delayed', async () => {
  await using bed = await OutboundBed.open()
  const { customer: eve, conversation } = other(bed, '5511888880002')
  const held = Promise.withResolvers<undefined>()
  bed.network.afterFrame = async (_, { content }) => {
    if (content.type === 'text' && content.text.startsWith('to Bob')) await held.promise
  }
  const answers = [1, 2, 3].map((n) => bed.post(bed.callback(n, `to Bob ${n}`)))
  assert.equal((await bed.post(bed.callback(4, 'to Eve', { conversation }))).status, 200)
  await bed.settle()
  assert.deepEqual([bed.texts(), bed.texts(eve)], [['to Bob 1'], ['to Eve']])
  held.resolve(undefined)
  await Promise.all(answers)
  assert.deepEqual(bed.texts(), ['to Bob 1', 'to Bob 2', 'to Bob 3'])
})

test('a message in doubt fails as unconfirmed when its time is over, the others expire', async () => {
  await using bed = await OutboundBed.open()
  bed.network.fault({ kind: 'in_doubt' })
  void bed.post(bed.callback(1, 'x'))
  await bed.until('it was tried', async () => (await rowOf(bed, 1)).unconfirmed === 1, { stepMs: 0 })
  bed.disconnect()
  assert.equal((await bed.post(bed.callback(2, 'y'))).status, 202)
  await bed.until('both are over', async () => (await bed.outbox()).pending === 0, { stepMs: 10_000 })
  assert.deepEqual([(await rowOf(bed, 1)).status, (await rowOf(bed, 2)).status], ['failed', 'expired'])
  assert.match((await rowOf(bed, 1)).reason ?? '', /could not be confirmed/)
  assert.deepEqual(
    bed.accounts.announced.map(({ event }) => event),
    ['outgoing_expired'],
  )
  assert.equal(await metricOf(bed, lostMessages), 1)
  bed.connect()
  await bed.pass(10_000)
  assert.deepEqual([bed.texts(), bed.network.frames], [['x'], 1])
})

test('deleting the instance ends running sends and fails all its messages', async () => {
  await using bed = await OutboundBed.open()
  bed.network.silent.add('n0')
  void bed.post(bed.callback(1, 'x'))
  await bed.until('the first is under way', () => bed.network.frames === 1, { stepMs: 0 })
  void bed.post(bed.callback(2, 'y'))
  await bed.until('the second waits', async () => (await bed.outbox()).pending === 2, { stepMs: 0 })
  await bed.remove()
  for (const id of [1, 2]) {
    await reaches(bed, id, 'failed')
    assert.equal((await rowOf(bed, id)).reason, 'the instance was deleted')
  }
})

test('every part of a message takes a turn of its own', async () => {
  await using bed = await OutboundBed.open({ environment: { SERVICE_OUTGOING_RATE_LIMIT: '2' } })
  const written = attach(bed, '', [textFile('a.txt'), textFile('b.txt'), textFile('c.txt')])
  await bed.until('two have left', () => shownTo(bed).length === 2, { stepMs: 0 })
  await bed.pass(4000)
  const id = await written
  assert.equal(shownTo(bed).length, 2)
  await bed.until('the third has left', () => shownTo(bed).length === 3, { stepMs: 1000 })
  await reaches(bed, id, 'sent')
  assert.ok(bed.clock.monotonic() >= 60_000, `after ${bed.clock.monotonic()} ms`)
})

test('files that are slow to fetch delay no text to another customer', async () => {
  await using bed = await OutboundBed.open()
  const slow = Promise.withResolvers<undefined>()
  let fetching = 0
  bed.helpdesk.beforeDownload = async () => {
    fetching++
    await slow.promise
  }
  const attachments = [stored(bed, textFile('slow.txt'))]
  for (let n = 0; n < 12; n++) {
    const { conversation } = other(bed, `55118888801${10 + n}`)
    void bed.post(bed.callback(100 + n, '', { conversation, attachments }))
  }
  await waitUntil('as many as may are being fetched', () => fetching === 8)
  assert.equal((await bed.post(bed.callback(1, 'text'))).status, 200)
  assert.equal(fetching, 8)
  slow.resolve(undefined)
  await reaches(bed, 111, 'sent')
})

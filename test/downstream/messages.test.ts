// Messages at the helpdesk: posted as they are, with files, found again after an uncertain answer.

import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { DownstreamError } from '../../src/core/downstream.ts'
import type { UploadFile } from '../../src/core/helpdesk/message.ts'
import { chatwootLimits } from '../../src/downstream/limits.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { DeskClient } from '../sim-helpdesk/harness/desk-client.ts'
import { HelpdeskBed, text } from './harness/helpdesk-bed.ts'

function file(bytes: Buffer, changes: Partial<UploadFile> = {}): UploadFile {
  const open = () => Promise.resolve(Readable.from([bytes.subarray(0, 10), bytes.subarray(10)], { objectMode: false }))
  return { open, fileName: 'photo.png', mimeType: 'image/png', size: bytes.length, ...changes }
}

test('a text is one request, and the answer tells what the helpdesk stored', async () => {
  await using bed = await HelpdeskBed.start()
  const id = await bed.openChat()
  const before = bed.helpdesk.requests.length
  const posted = await bed.inbox.post(id, text('héllo\n*x*', { sourceId: '3EB0A' }))
  assert.equal(bed.helpdesk.requests.length - before, 1)
  const [row] = bed.helpdesk.messages(id)
  assert.deepEqual([row?.content, row?.messageType, row?.sourceId], ['héllo\n*x*', 'incoming', '3EB0A'])
  const createdAt = Math.floor((row?.createdAt ?? 0) / 1000) * 1000
  assert.deepEqual(posted, { id: row?.id, sourceId: '3EB0A', status: 'sent', createdAt, isDeleted: false })
  bed.helpdesk.assertNothingRefused()
})

test('a reply, an echo of the phone, a note and an activity keep their marks', async () => {
  await using bed = await HelpdeskBed.start()
  const id = await bed.openChat()
  const first = await bed.inbox.post(id, text('question', { sourceId: 'A' }))
  await bed.inbox.post(id, text('reply', { inReplyTo: first.id }))
  const template = 'hi {{contact.name}} {{{x}}} {% if %} {{'
  await bed.inbox.post(id, text(template, { type: 'outgoing', isEcho: true, sourceId: 'B' }))
  await bed.inbox.post(id, text('note', { type: 'outgoing', private: true }))
  await bed.inbox.post(id, text('Maria joined', { type: 'activity' }))
  const rows = bed.helpdesk.messages(id)
  assert.deepEqual(
    rows.map((row) => [row.messageType, row.private]),
    [
      ['incoming', false],
      ['incoming', false],
      ['outgoing', false],
      ['outgoing', true],
      ['activity', false],
    ],
  )
  assert.equal(rows[1]?.contentAttributes['in_reply_to'], first.id)
  assert.equal(rows[2]?.contentAttributes['external_echo'], true)
  assert.equal(rows[2].content?.replaceAll('\u200b', ''), template)
  bed.helpdesk.assertNothingRefused()
})

test('files are streamed up with name, type and caption, whether their size is known or not', async () => {
  await using bed = await HelpdeskBed.start()
  const id = await bed.openChat()
  const picture = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  const big = Buffer.alloc(1_500_000, 7)
  const sound = file(big, { fileName: 'olá "1".ogg', mimeType: 'audio/ogg; codecs=opus', size: null })
  await bed.inbox.post(id, text('look', { sourceId: 'F1', isEcho: true, type: 'outgoing', files: [file(picture)] }))
  await bed.inbox.post(id, text('', { files: [file(picture), sound] }))
  const [one, two] = bed.helpdesk.messages(id)
  assert.deepEqual([one?.content, one?.sourceId, one?.contentAttributes['external_echo']], ['look', 'F1', true])
  assert.equal(one?.files[0]?.filename, 'photo.png')
  assert.deepEqual(Buffer.from(one.files[0].bytes), picture)
  assert.deepEqual(
    two?.files.map(({ filename, contentType, bytes }) => [filename, contentType, bytes.length]),
    [
      ['photo.png', 'image/png', picture.length],
      ['olá "1".ogg', 'audio/ogg', big.length],
    ],
  )
  bed.helpdesk.assertNothingRefused()
})

test('a file that breaks off or is shorter than announced is no fault of the helpdesk, and nothing is posted', async () => {
  await using bed = await HelpdeskBed.start()
  const id = await bed.openChat()
  const broken = new Error('the phone went away')
  const breaking = () => Promise.resolve(Readable.from(failing(broken), { objectMode: false }))
  const failsToOpen = () => Promise.reject(broken)
  for (const open of [breaking, failsToOpen]) {
    const post = bed.inbox.post(id, text('x', { files: [file(Buffer.alloc(100), { open })] }))
    await assert.rejects(post, { failure: 'transient', mayHaveHappened: false, cause: broken })
  }
  await assert.rejects(bed.inbox.post(id, text('x', { files: [file(Buffer.alloc(100), { size: 200 })] })), {
    failure: 'transient',
    mayHaveHappened: false,
  })
  assert.deepEqual(bed.helpdesk.messages(id), [])
})

function* failing(error: Error) {
  yield Buffer.alloc(10)
  throw error
}

test('an upload whose source hangs ends after the deadline', async () => {
  const clock = new ManualClock()
  await using bed = await HelpdeskBed.start({ downstream: { clock } })
  const id = await bed.openChat()
  const hanging = new Readable({ read: () => undefined })
  const open = () => Promise.resolve(hanging)
  const post = assert.rejects(bed.inbox.post(id, text('x', { files: [file(Buffer.alloc(100), { open })] })), {
    failure: 'transient',
  })
  await waitUntil('the file is being read', () => hanging.listenerCount('readable') > 0)
  await clock.advance(6000)
  await post
  await waitUntil('the source is closed', () => hanging.destroyed)
})

test('too long a text and too many files are refused before anything is sent', async () => {
  await using bed = await HelpdeskBed.start()
  const id = await bed.openChat()
  const before = bed.helpdesk.requests.length
  await assert.rejects(bed.inbox.post(id, text('x'.repeat(150_001))), { failure: 'permanent' })
  const files = Array.from({ length: 16 }, () => file(Buffer.alloc(20)))
  await assert.rejects(bed.inbox.post(id, text('', { files })), { failure: 'permanent' })
  assert.equal(bed.helpdesk.requests.length, before)
})

test('an outgoing text of the safe length fits, even when all of it is Liquid', async () => {
  await using bed = await HelpdeskBed.start()
  const id = await bed.openChat()
  const written = '{'.repeat(chatwootLimits.safeLength)
  assert.ok(chatwootLimits.fits(written, 'outgoing'))
  assert.ok(chatwootLimits.fits('x'.repeat(150_000), 'outgoing'), 'a text without Liquid may be longer')
  assert.ok(!chatwootLimits.fits('{'.repeat(150_000), 'outgoing'))
  assert.ok(chatwootLimits.fits('👍'.repeat(100_000), 'incoming'), 'the length is counted in characters')
  await bed.inbox.post(id, text(written, { type: 'outgoing' }))
  assert.equal(bed.helpdesk.messages(id).at(-1)?.content?.replaceAll('\u200b', ''), written)
})

test('the flood limit is told apart from other refusals', async () => {
  await using bed = await HelpdeskBed.start({ helpdesk: { messagesPerMinute: 2 } })
  const id = await bed.openChat()
  await bed.inbox.post(id, text('1'))
  await bed.inbox.post(id, text('2'))
  await assert.rejects(bed.inbox.post(id, text('3')), { failure: 'flood', mayHaveHappened: false, status: 422 })
})

test('a message that is committed 14 s after we stopped waiting is found, and not before', async () => {
  const clock = new ManualClock()
  await using bed = await HelpdeskBed.start({ helpdesk: { clock }, downstream: { clock } })
  const id = await bed.openChat()
  await bed.inbox.post(id, text('earlier', { sourceId: 'LATE' }))
  const after = await bed.inbox.newestMessageId(id)
  const late = { kind: 'timeout', commit: 'late', commitMs: [14_000, 14_000], path: /messages$/, times: 1 } as const
  await bed.helpdesk.fault(late)
  const failed = assert.rejects(bed.inbox.post(id, text('hello', { sourceId: 'LATE' })), {
    failure: 'transient',
    mayHaveHappened: true,
  })
  await bed.helpdesk.waitForHeldRequests()
  await clock.advance(5100)
  await failed
  assert.equal(await bed.inbox.findPosted(id, 'LATE', after), null)
  await clock.advance(9000)
  const found = await bed.inbox.findPosted(id, 'LATE', after)
  assert.equal(found?.id, bed.helpdesk.messages(id).at(-1)?.id)
})

test('a message is found behind hundreds of others', async () => {
  await using bed = await HelpdeskBed.start({ helpdesk: { messagesPerMinute: 1000 } })
  const id = await bed.openChat()
  for (let number = 1; number <= 215; number++) await bed.inbox.post(id, text('x', { sourceId: `S${number}` }))
  assert.equal((await bed.inbox.findPosted(id, 'S210', 0))?.sourceId, 'S210')
  assert.equal(await bed.inbox.findPosted(id, 'S5', 50), null)
  assert.equal(await bed.inbox.newestMessageId(id), bed.helpdesk.messages(id).at(-1)?.id)
})

test('states are set with their reason, messages deleted, single ones looked up', async () => {
  await using bed = await HelpdeskBed.start()
  const id = await bed.openChat()
  const { id: messageId } = await bed.inbox.post(id, text('hi', { type: 'outgoing' }))
  await bed.inbox.setStatus(id, messageId, 'failed', 'the number is not on WhatsApp')
  assert.equal((await bed.inbox.findMessage(id, messageId))?.status, 'failed')
  const [row] = bed.helpdesk.messages(id)
  assert.equal(row?.contentAttributes['external_error'], 'the number is not on WhatsApp')
  await bed.inbox.deleteMessage(id, messageId)
  assert.equal(bed.helpdesk.messages(id)[0]?.contentAttributes['deleted'], true)
  await bed.inbox.deleteMessage(id, 4711)
  assert.equal(await bed.inbox.findMessage(id, 4711), null)
  assert.equal(await bed.inbox.findMessage(4711, 1), null)
  const unknown = bed.inbox.setStatus(id, 4711, 'read')
  await assert.rejects(unknown, (error) => error instanceof DownstreamError && error.failure === 'gone')
})

test('the outgoing messages of a conversation are those for which the helpdesk calls', async () => {
  await using bed = await HelpdeskBed.start()
  const id = await bed.openChat()
  const agent = new DeskClient(bed.helpdesk)
  const write = async (content: string, more: object = {}) =>
    (await agent.post(`/conversations/${id}/messages`, { content, ...more })).body.id
  await bed.inbox.post(id, text('question', { sourceId: 'A' }))
  const first = await write('first')
  await bed.inbox.post(id, text('from the phone', { type: 'outgoing', isEcho: true, sourceId: 'B' }))
  await write('note', { private: true })
  const failed = await write('failed')
  await bed.inbox.setStatus(id, failed, 'failed', 'no')
  const deleted = await write('deleted')
  await bed.inbox.deleteMessage(id, deleted)
  const second = await write('second')
  const third = await write('third')
  const ids = async (range: { afterId: number | null; beforeId: number }) =>
    (await bed.inbox.outgoingMessages(id, range)).map((each) => each.id)
  assert.deepEqual(await ids({ afterId: null, beforeId: third }), [first, second])
  assert.deepEqual(await ids({ afterId: first, beforeId: second }), [second, third])
  const [{ createdAt } = { createdAt: 0 }] = await bed.inbox.outgoingMessages(id, { afterId: second, beforeId: third })
  assert.ok(Math.abs(createdAt - bed.helpdesk.clock.now()) < 60_000)
})

test('more than a hundred messages since the last one do not hide the outgoing messages right before a message', async () => {
  await using bed = await HelpdeskBed.start()
  const id = await bed.openChat()
  const agent = new DeskClient(bed.helpdesk)
  const write = async (content: string) => (await agent.post(`/conversations/${id}/messages`, { content })).body.id
  const first = await write('first')
  for (let n = 0; n < 110; n++) await bed.inbox.post(id, text(`question ${n}`))
  const second = await write('second')
  const third = await write('third')
  const found = await bed.inbox.outgoingMessages(id, { afterId: first, beforeId: third })
  assert.ok(found.some((each) => each.id === second))
})

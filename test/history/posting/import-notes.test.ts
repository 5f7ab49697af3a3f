// The private note with which an imported conversation begins.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DownstreamError } from '../../../src/core/downstream.ts'
import { textsOf } from '../../../src/bridge/inbound/compose/texts.ts'
import { pastTextsOf } from '../../../src/history/posting/past-texts.ts'
import { jobId, PostingBed } from '../harness/posting-bed.ts'
import { desk } from '../../bridge/inbound/harness/bridge-bed.ts'

const oldestAt = Date.UTC(2026, 10, 3, 12)

function note({ posting, target, conversation, stopping }: PostingBed): Promise<void> {
  return posting.notes.post({ instance: 'a', target, conversation, jobId, oldestAt }, stopping.signal)
}

test('the note is private, in the language of the agents, and says from when the messages are', async () => {
  const days = { en: 'November 3, 2026', es: '3 de noviembre de 2026', pt: '3 de novembro de 2026' }
  for (const [locale, day] of Object.entries(days)) {
    await using bed = await PostingBed.open({ environment: { SERVICE_LOCALE: locale } })
    await note(bed)
    const [posted] = bed.helpdesk.messages
    assert.deepEqual([posted?.type, posted?.private, posted?.sourceId], ['outgoing', true, `import-${jobId}`])
    assert.ok(posted?.content.includes(day), posted?.content)
  }
})

test('the date of the note is corrected, so that it stands above the oldest message', async () => {
  await using bed = await PostingBed.open()
  await note(bed)
  const [posted] = bed.helpdesk.messages
  assert.deepEqual(bed.dated, [
    {
      ...{ destination: desk, conversationId: bed.conversation.id, messageId: posted?.id },
      ...{ sourceId: `import-${jobId}`, at: oldestAt - 1 },
    },
  ])
  assert.equal(bed.conversation.newest, posted?.id)
})

test('a conversation that has the note of the job gets no second one', async () => {
  await using bed = await PostingBed.open()
  await note(bed)
  await note(bed)
  assert.equal(bed.helpdesk.messages.length, 1)
})

test('a note whose answer is lost is searched for', async () => {
  await using bed = await PostingBed.open()
  bed.helpdesk.afterPost = () => {
    throw new DownstreamError('transient', 'no answer', { mayHaveHappened: true })
  }
  await note(bed)
  assert.equal(bed.helpdesk.messages.length, 1)
  assert.equal(bed.conversation.newest, bed.helpdesk.messages[0]?.id)
})

test('a note that never appears is an error for the caller after the time in which it may appear', async () => {
  await using bed = await PostingBed.open()
  bed.helpdesk.script = (call) => {
    if (call === 'post') throw new DownstreamError('transient', 'no answer', { mayHaveHappened: true })
  }
  const failed = assert.rejects(note(bed), /no answer/)
  for (let passed = 0; passed < 25_000; passed += 1000) await bed.bridge.pass(1000)
  await failed
  assert.ok(bed.helpdesk.calls.filter((call) => call === 'findPosted').length > 3)
})

test('every language has every sentence', () => {
  for (const texts of Object.values(pastTextsOf)) {
    assert.deepEqual(Object.keys(texts), Object.keys(pastTextsOf.en))
  }
  assert.deepEqual(Object.keys(pastTextsOf), Object.keys(textsOf))
})

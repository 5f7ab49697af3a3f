// How a quoted message is shown, in the three styles.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { MessageEvent } from '../../../src/core/message.ts'
import { BridgeBed, envelope, message } from './harness/bridge-bed.ts'
import { eventAbout } from './harness/event-about.ts'

type Style = 'both' | 'bubble' | 'text'

const block = '> `↪ +5511988887777 · ~Maria`\n> the question\n\n'

function answerTo({ id, sender }: MessageEvent, text = 'the answer'): MessageEvent {
  return message(text, { quote: { id, sender, fromMe: false, text: 'the question' } })
}

async function answered(style: Style, bed: BridgeBed, event: MessageEvent) {
  bed.own.set('a', { quote_style: style })
  const before = bed.helpdesk.messages.length
  await bed.receive(event)
  await bed.postedWithin(before + 1, 120_000)
  const posted = bed.helpdesk.messages[before]
  return { content: posted?.content, inReplyTo: posted?.inReplyTo }
}

describe('a quote of a message in the same conversation', () => {
  const wanted: Record<Style, (original: number) => object> = {
    both: (original) => ({ content: `${block}the answer`, inReplyTo: original }),
    bubble: (original) => ({ content: 'the answer', inReplyTo: original }),
    text: () => ({ content: `${block}the answer`, inReplyTo: null }),
  }
  for (const [style, of] of Object.entries(wanted)) {
    test(`has the style ${style}`, async () => {
      await using bed = await BridgeBed.open()
      const question = message('the question')
      await bed.receive(question)
      await bed.posted(1)
      const shown = await answered(style as Style, bed, answerTo(question))
      assert.deepEqual(shown, of(bed.helpdesk.messages[0]?.id ?? 0))
    })
  }
})

describe('the words of the quote are shown in every style', () => {
  const styles: readonly Style[] = ['both', 'bubble', 'text']
  const inWords = { content: `${block}the answer`, inReplyTo: null }

  for (const style of styles) {
    test(`when the original never reached the helpdesk: ${style}`, async () => {
      await using bed = await BridgeBed.open()
      assert.deepEqual(await answered(style, bed, answerTo(message('the question'))), inWords)
    })

    test(`when the original is in another conversation: ${style}`, async () => {
      await using bed = await BridgeBed.open()
      const question = message('the question')
      await bed.receive(question)
      await bed.posted(1)
      await bed.drained()
      const [conversation] = bed.helpdesk.conversations
      assert.ok(conversation)
      conversation.status = 'resolved'
      await bed.clock.advance(60_000)
      assert.deepEqual(await answered(style, bed, answerTo(question)), inWords)
      assert.equal(bed.helpdesk.conversations.length, 2)
    })

    test(`when the original is of another helpdesk inbox: ${style}`, async () => {
      await using bed = await BridgeBed.open()
      const question = message('the question')
      await bed.receive(question)
      await bed.posted(1)
      await bed.drained()
      const [before] = bed.routes.values()
      assert.ok(before)
      bed.routes.set('a', { ...before, key: 'http://desk|1|2', inboxId: 2 })
      assert.deepEqual(await answered(style, bed, answerTo(question)), inWords)
    })
  }

  test('when only a notice stands there for the original', async () => {
    await using bed = await BridgeBed.open()
    const question = message('the question')
    await bed.receive({ ...envelope(question), kind: 'undecryptable', reason: 'no session' })
    await bed.postedWithin(1, 20_000)
    const inReplyTo = bed.helpdesk.messages[0]?.id
    for (const style of ['both', 'bubble'] as const) {
      assert.deepEqual(await answered(style, bed, answerTo(question)), { content: `${block}the answer`, inReplyTo })
    }
  })

  test('when the message replaces a notice: Chatwoot shows the notice as what it answers', async () => {
    await using bed = await BridgeBed.open()
    const question = message('the question')
    await bed.receive(question)
    await bed.posted(1)
    const answer = answerTo(question)
    await bed.receive({ ...envelope(answer), kind: 'undecryptable', reason: 'no session' })
    await bed.postedWithin(2, 20_000)
    const notice = bed.helpdesk.messages[1]?.id
    assert.deepEqual(await answered('bubble', bed, answer), { content: `${block}the answer`, inReplyTo: notice })
  })
})

test('an answer to a message that came after its notice shows the message, not the notice', async () => {
  await using bed = await BridgeBed.open()
  const question = message('the question')
  await bed.receive({ ...envelope(question), kind: 'undecryptable', reason: 'no session' })
  await bed.postedWithin(1, 20_000)
  await bed.receive(question)
  await bed.posted(2)
  const inReplyTo = bed.helpdesk.messages[1]?.id
  assert.deepEqual(await answered('bubble', bed, answerTo(question)), { content: 'the answer', inReplyTo })
})

test('a file with a quote keeps its notice in the style bubble', async () => {
  await using bed = await BridgeBed.open()
  const question = message('the question')
  await bed.receive(question)
  await bed.posted(1)
  const file = { kind: 'image', url: null, directPath: null, mediaKey: '', sha256: null, encSha256: null } as const
  const facts = { mimeType: 'image/jpeg', fileName: null, size: 1, seconds: null, caption: 'look' } as const
  const answer = { ...answerTo(question), content: { type: 'media', media: 'image', file, ...facts } as const }
  const { content, inReplyTo } = await answered('bubble', bed, answer)
  assert.match(content ?? '', /^look\n\n/)
  assert.equal(inReplyTo, bed.helpdesk.messages[0]?.id)
})

test('the header of a group stays above the words without the quote', async () => {
  await using bed = await BridgeBed.open()
  const chat = { kind: 'group', id: '120363000000000001' } as const
  const question = message('the question', { chat })
  await bed.receive(question)
  await bed.posted(1)
  const shown = await answered('bubble', bed, { ...answerTo(question), chat })
  assert.equal(shown.content, '`+5511988887777 · ~Maria`\n\nthe answer')
})

test('a reaction is no quote: it stays a reply in every style', async () => {
  await using bed = await BridgeBed.open()
  const question = message('the question')
  await bed.receive(question)
  await bed.posted(1)
  bed.own.set('a', { quote_style: 'text' })
  await bed.receive(eventAbout('reaction', question))
  await bed.posted(2)
  assert.equal(bed.helpdesk.messages[1]?.inReplyTo, bed.helpdesk.messages[0]?.id)
})

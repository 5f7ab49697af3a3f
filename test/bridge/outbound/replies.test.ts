// Answers that belong to other messages: quotes and reactions, and what the network says of ours later.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { envelope } from '../inbound/harness/bridge-bed.ts'
import { attach, textFile } from './harness/attach-files.ts'
import { OutboundBed } from './harness/outbound-bed.ts'
import type { SentMessage } from './harness/scripted-network.ts'
import { quoteOf, reactions } from './harness/views.ts'

const replyTo = (id: number) => ({ content_attributes: { in_reply_to: id } })

/** The id and the text that a message quotes. */
function quoted(message: SentMessage): (string | undefined)[] {
  const quote = quoteOf(message)
  return [quote?.key.id, quote?.text]
}

test('a single emoji in reply is a text with a quote unless it is asked for as a reaction', async () => {
  await using bed = await OutboundBed.open()
  const asked = await bed.hears('thanks!')
  await bed.write('👍', replyTo(asked.id), asked.conversationId)
  assert.deepEqual(quoted(await bed.received('👍')), [asked.sourceId, 'thanks!'])
})

test('as a reaction: a single emoji in reply only, not alone, not two, not a word', async () => {
  await using bed = await OutboundBed.open({ environment: { SERVICE_EMOJI_REPLY_AS_REACTION: 'true' } })
  const asked = await bed.hears('thanks!')
  const write = (text: string, extra: object = replyTo(asked.id)) => bed.write(text, extra, asked.conversationId)
  const emojis = ['❤️', '👩🏽‍🚒', '🇧🇷']
  for (const emoji of emojis) await write(emoji)
  assert.deepEqual(reactions(bed), emojis)
  for (const text of ['👍👍', 'ok', '7']) {
    await write(text)
    assert.equal(quoteOf(await bed.received(text))?.key.id, asked.sourceId)
  }
  await write('👍', {})
  await bed.received('👍')
  await bed.until('all are settled', async () => (await bed.outbox()).sent === 7)
})

test('a customer’s message and a file of ours from before a restart can be answered', async () => {
  await using bed = await OutboundBed.open()
  const asked = await bed.hears('when?')
  const form = await attach(bed, 'the plan', [textFile('plan.txt')])
  const file = await bed.received('the plan')
  await bed.restart()
  await bed.write('at nine', replyTo(asked.id), asked.conversationId)
  assert.deepEqual(quoted(await bed.received('at nine')), [asked.sourceId, 'when?'])
  await bed.write('as planned', replyTo(form))
  assert.deepEqual(quoted(await bed.received('as planned')), [file.id, 'the plan'])
})

test('a reply to an unknown message is sent without a quote', async () => {
  await using bed = await OutboundBed.open()
  const lost = bed.callback(1, 'to nothing', { content_attributes: { in_reply_to: 4711 } })
  assert.equal((await bed.post(lost)).status, 200)
  assert.equal(quoteOf(await bed.received('to nothing')), null)
})

test('the message that the customer quotes or reacts to is found in the helpdesk, every part of it', async () => {
  await using bed = await OutboundBed.open()
  const asked = await bed.hears('hello')
  const id = await bed.write('our answer', {}, asked.conversationId)
  const answer = await bed.received('our answer')
  const quote = (message: SentMessage) => ({ id: message.id, sender: null, fromMe: true, text: null })
  const quoting = await bed.hears('what do you mean?', { quote: quote(answer) })
  assert.equal(quoting.inReplyTo, id)
  const target = { chat: answer.to, id: answer.id, fromMe: true, participant: null }
  const { phone, lid } = bed.bob
  const from = envelope({ chat: { kind: 'person', phone, lid }, sender: { phone, lid } })
  const reaction = await bed.receive({ ...from, kind: 'reaction', target, emoji: '❤️' })
  assert.equal(reaction.inReplyTo, id)
  const files = await attach(bed, '', [textFile('a.txt'), textFile('b.txt')])
  const last = bed.network.messages.at(-1)
  assert.ok(last)
  const about = await bed.hears('the second one', { quote: quote(last) })
  assert.equal(about.inReplyTo, files)
})

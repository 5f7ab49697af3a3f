// Answers that belong to other messages: quotes, reactions and mentions, and what the network says of ours later.

import { OutboundStage } from '../../harness/outbound-stage.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textOfMessage, unwrap } from '../../../sim/network/people/received-message.ts'
import type { ReceivedMessage } from '../../../sim/network/people/received-message.ts'
import { attach, kindsOf, textFile } from '../../harness/agent-files.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const quoteOf = ({ message }: ReceivedMessage) => unwrap(message).extendedTextMessage?.contextInfo

/** A message of the network, as the helpdesk shows it. */
const posted = (stage: OutboundStage, { id }: { id: string }) =>
  stage.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === id, 20_000)

const replyTo = (id: number) => ({ content_attributes: { in_reply_to: id } })

test('a single emoji in reply is a text with a quote unless it is asked for as a reaction', async () => {
  await using stage = await OutboundStage.open()
  const asked = await posted(stage, stage.bob.text(stage.phone, 'thanks!'))
  await stage.write('👍', replyTo(asked.id), asked.conversationId)
  const answer = await stage.received('👍')
  assert.equal(quoteOf(answer)?.stanzaId, asked.sourceId)
})

test('as a reaction: a single emoji in reply only, not alone, not two, not a word', async () => {
  await using stage = await OutboundStage.open({ environment: { SERVICE_EMOJI_REPLY_AS_REACTION: 'true' } })
  const asked = await posted(stage, stage.bob.text(stage.phone, 'thanks!'))
  const write = (text: string, extra: object = replyTo(asked.id)) => stage.write(text, extra, asked.conversationId)
  for (const emoji of ['❤️', '👩🏽‍🚒', '🇧🇷']) {
    await write(emoji)
    await stage.bob.messages.waitFor(emoji, ({ message }) => unwrap(message).reactionMessage?.text === emoji)
  }
  for (const text of ['👍👍', 'ok', '7']) {
    await write(text)
    assert.equal(quoteOf(await stage.received(text))?.stanzaId, asked.sourceId)
  }
  await write('👍', {})
  await stage.received('👍')
  await waitUntil('all are settled', async () => (await stage.outbox())['sent'] === 7)
})

test('a customer’s message and a file of ours from before a restart can be answered', async () => {
  await using stage = await OutboundStage.open()
  const question = stage.bob.text(stage.phone, 'when?')
  const asked = await posted(stage, question)
  const form = await attach(stage, 'the plan', [textFile('plan.txt')])
  const file = await stage.received('the plan')
  await waitUntil('both are sent', async () => (await stage.outbox())['sent'] === 1)
  await stage.restart()
  await stage.write('at nine', replyTo(asked.id), asked.conversationId)
  const first = quoteOf(await stage.received('at nine'))
  assert.deepEqual([first?.stanzaId, first?.quotedMessage?.conversation], [question.id, 'when?'])
  await stage.write('as planned', replyTo(form))
  const second = quoteOf(await stage.received('as planned'))
  assert.deepEqual([second?.stanzaId, second?.quotedMessage?.conversation], [file.id, 'the plan'])
})

test('in a group the quote names who is quoted, and only members are mentioned', async () => {
  await using stage = await OutboundStage.open()
  const eve = stage.network.person({ phone: '5511888880002', lid: '200000000000002', pushName: 'Eve' })
  const group = stage.network.group('Team', stage.bob, [stage.phone, eve])
  const question = eve.text(group, 'who comes?')
  const asked = await posted(stage, question)
  await stage.write(
    '@5511888880002 and @+5511777770000 and me@5511888880002.example',
    replyTo(asked.id),
    asked.conversationId,
  )
  const shown = '@5511888880002 and @+5511777770000 and me@5511888880002.example'
  const answer = await stage.received(shown, eve)
  const context = quoteOf(answer)
  assert.equal(context?.stanzaId, question.id)
  assert.ok([eve.user.pnJid, eve.user.lidJid].includes(context.participant ?? ''), context.participant ?? 'nobody')
  assert.equal(context.mentionedJid?.length, 1)
})

test('a reply to what is unknown is sent without a quote', async () => {
  await using stage = await OutboundStage.open()
  const lost = stage.callback(1, 'to nothing', { content_attributes: { in_reply_to: 4711 } })
  assert.equal((await stage.post(lost)).status, 200)
  const { message } = await stage.received('to nothing')
  assert.equal(unwrap(message).extendedTextMessage?.contextInfo?.stanzaId ?? null, null)
})

test('what the customer quotes or reacts to is found in the helpdesk, every part of it', async () => {
  await using stage = await OutboundStage.open()
  const asked = await posted(stage, stage.bob.text(stage.phone, 'hello'))
  const id = await stage.write('our answer', {}, asked.conversationId)
  const answer = await stage.received('our answer')
  const quoting = await posted(stage, stage.bob.text(stage.phone, 'what do you mean?', { quote: answer }))
  assert.equal(quoting.contentAttributes['in_reply_to'], id)
  const reaction = await posted(stage, stage.bob.react(answer, '❤️'))
  assert.equal(reaction.contentAttributes['in_reply_to'], id)
  const files = await attach(stage, '', [textFile('a.txt'), textFile('b.txt')])
  await waitUntil('both files have arrived', () => kindsOf(stage.bob.messages.entries).length === 3)
  const last = stage.bob.messages.entries.at(-1)
  assert.ok(last)
  assert.equal(textOfMessage(last.message) ?? '', '')
  const about = await posted(stage, stage.bob.text(stage.phone, 'the second one', { quote: last }))
  assert.equal(about.contentAttributes['in_reply_to'], files)
})

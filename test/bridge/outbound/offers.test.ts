// A customer answers a message that offers choices.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { engines } from '../../harness/databases.ts'
import { envelope } from '../inbound/harness/bridge-bed.ts'
import { OutboundBed } from './harness/outbound-bed.ts'

const hourMs = 3_600_000
const sizes = ['Small', 'Medium', 'Large']

let ids = 9000

/** An agent offers choices to Bob, or to the chat of another conversation. */
async function offer(bed: OutboundBed, titles: readonly string[] = sizes, more: Record<string, unknown> = {}) {
  const items = titles.map((title) => ({ title, value: title }))
  const kind = { content_type: 'input_select', content_attributes: { items } }
  const answer = await bed.post(bed.callback(++ids, 'Which size?', { ...kind, ...more }))
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  await bed.pass(1000)
}

/** The customer writes a text. Returns what agents see, with the customer's own text if it is another one. */
async function answered(bed: OutboundBed, text: string, changes: Parameters<OutboundBed['hears']>[1] = {}) {
  const { content, originalText } = await bed.hears(text, changes)
  return originalText === undefined ? content : { content, originalText }
}

for (const engine of engines) {
  test(`an answer by number or by title is posted as the title, also after a restart, on ${engine}`, async () => {
    await using bed = await OutboundBed.open({ engine })
    await bed.hears('hi')
    await offer(bed)
    assert.equal(bed.texts().at(-1), 'Which size?\n\n1. Small\n2. Medium\n3. Large')
    assert.deepEqual(await answered(bed, '2'), { content: 'Medium', originalText: '2' })
    assert.deepEqual(await answered(bed, ' large '), { content: 'Large', originalText: ' large ' })
    await bed.restart()
    assert.deepEqual(await answered(bed, '1)'), { content: 'Small', originalText: '1)' })
    assert.equal(await answered(bed, 'Medium'), 'Medium')
    assert.equal(await answered(bed, '2 pizzas'), '2 pizzas')
    assert.equal(await answered(bed, '4'), '4')
  })
}

describe('an offer ends', () => {
  test('with the next message of an agent', async () => {
    await using bed = await OutboundBed.open()
    await offer(bed)
    await bed.write('never mind')
    await bed.pass(1000)
    assert.equal(await answered(bed, '2'), '2')
  })

  test('with the next message of the phone', async () => {
    await using bed = await OutboundBed.open()
    await offer(bed)
    await bed.hears('call me', { fromMe: true })
    await bed.pass(1000)
    assert.equal(await answered(bed, '2'), '2')
  })

  test('with another offer, whose choices count from then on', async () => {
    await using bed = await OutboundBed.open()
    await offer(bed)
    await offer(bed, ['Red', 'Blue'])
    assert.deepEqual(await answered(bed, '2'), { content: 'Blue', originalText: '2' })
    assert.equal(await answered(bed, 'small'), 'small')
  })

  test('after 24 hours', async () => {
    await using bed = await OutboundBed.open()
    await offer(bed)
    await bed.pass(23 * hourMs)
    assert.deepEqual(await answered(bed, '3'), { content: 'Large', originalText: '3' })
    await bed.pass(hourMs)
    assert.equal(await answered(bed, '3'), '3')
  })

  test('when an agent deletes it, but not with the deletion of another message', async () => {
    await using bed = await OutboundBed.open()
    const deletion = (id: number) => ({
      ...bed.callback(id, 'This message was deleted', { content_attributes: { deleted: true } }),
      event: 'message_updated',
    })
    const hello = await bed.write('hello')
    await offer(bed)
    await bed.post(deletion(hello))
    await bed.until('the first message is revoked', async () => (await bed.outbox()).sent === 3)
    assert.deepEqual(await answered(bed, '2'), { content: 'Medium', originalText: '2' })
    await bed.post(deletion(ids))
    await bed.until('the offer is revoked', async () => (await bed.outbox()).sent === 4)
    assert.equal(await answered(bed, '2'), '2')
  })

  test('when its text is edited', async () => {
    await using bed = await OutboundBed.open()
    await offer(bed)
    const waid = bed.network.to(bed.bob).at(-1)?.id ?? ''
    const who = { instance: 'n0', ownerTag: '' }
    await bed.process.outbound.edit({ who, waid, chat: '5511888880001@s.whatsapp.net', content: 'Which colour?' })
    assert.equal(await answered(bed, '2'), '2')
  })
})

describe('an offer does not end', () => {
  test('with a message that was not sent, with a note or with a reaction', async () => {
    await using bed = await OutboundBed.open({ environment: { SERVICE_EMOJI_REPLY_AS_REACTION: 'true' } })
    const hello = await bed.hears('hi')
    await offer(bed)
    bed.network.fault({ kind: 'ack_error', code: 404 })
    await bed.write('refused')
    await bed.write('for colleagues', { private: true })
    await bed.write('👍', { content_attributes: { in_reply_to: hello.id } })
    await bed.until('the reaction has arrived', () => bed.network.to(bed.bob).at(-1)?.content.type === 'reaction')
    const target = { chat: '5511888880001@s.whatsapp.net', id: hello.sourceId ?? '', fromMe: false, participant: null }
    const { phone, lid } = bed.bob
    const own = envelope({ fromMe: true, chat: { kind: 'person', phone, lid }, at: bed.network.now() })
    await bed.store({ ...own, kind: 'reaction', target, emoji: '👍' })
    await bed.pass(1000)
    assert.deepEqual(await answered(bed, '2'), { content: 'Medium', originalText: '2' })
  })

  test('with an answer: a customer may change an answer', async () => {
    await using bed = await OutboundBed.open()
    await offer(bed)
    assert.deepEqual(await answered(bed, '1'), { content: 'Small', originalText: '1' })
    assert.deepEqual(await answered(bed, '2'), { content: 'Medium', originalText: '2' })
  })
})

describe('the time of a text decides', () => {
  test('a text that was written before the offer is no answer, although it is delivered after it', async () => {
    await using bed = await OutboundBed.open()
    const at = bed.network.now()
    await bed.pass(2000)
    await offer(bed)
    assert.equal(await answered(bed, '2', { at }), '2')
  })

  test('an answer that is delivered after our next message still names its choice', async () => {
    await using bed = await OutboundBed.open()
    await offer(bed)
    const at = bed.network.now()
    await bed.pass(2000)
    await bed.write('are you there?')
    assert.deepEqual(await answered(bed, '2', { at }), { content: 'Medium', originalText: '2' })
  })

  for (const aheadMs of [10 * 60_000, -10 * 60_000]) {
    test(`also when our clock is wrong by ${-aheadMs / 60_000} minutes`, async () => {
      await using bed = await OutboundBed.open()
      bed.network.aheadMs = aheadMs
      const before = bed.network.now()
      await bed.pass(2000)
      await offer(bed)
      assert.equal(await answered(bed, '2', { at: before }), '2')
      assert.deepEqual(await answered(bed, '2'), { content: 'Medium', originalText: '2' })
      await bed.write('thanks')
      await bed.pass(1000)
      assert.equal(await answered(bed, '2'), '2')
    })
  }
})

test('every member of a group can answer, and the header names the member', async () => {
  await using bed = await OutboundBed.open()
  const eve = bed.network.person({ phone: '5511888880002', name: 'Eve' })
  const group = bed.network.group('Team', [bed.bob, eve])
  const chat = { kind: 'group' as const, id: group.replace('@g.us', '') }
  const { conversationId } = await bed.hears('hello all', { chat })
  await offer(bed, sizes, {
    conversation: { id: conversationId, inbox_id: 1, meta: { sender: { identifier: group } } },
  })
  assert.equal(bed.texts(group).length, 1)
  const shown = (name: string, title: string) => ({ content: `\`+55118888800${name}\`\n\n${title}`, originalText: '' })
  for (const [from, text, title, name] of [
    [bed.bob, '2', 'Medium', '01 · ~Bob'],
    [eve, 'LARGE', 'Large', '02 · ~Eve'],
  ] as const) {
    assert.deepEqual(await answered(bed, text, { chat, from }), { ...shown(name, title), originalText: text })
  }
  assert.equal(await answered(bed, '2'), '2', 'the offer is one of the group')
})

test('a signed offer is answered like any other, and a quote of the offer is shown with the answer', async () => {
  await using bed = await OutboundBed.open({ environment: { SERVICE_SIGN_MESSAGES: 'true' } })
  await offer(bed, sizes, { sender: { id: 3, name: 'Ana', type: 'user' } })
  const sent = bed.network.to(bed.bob).at(-1)
  assert.equal(bed.texts().at(-1), '*Ana:*\nWhich size?\n\n1. Small\n2. Medium\n3. Large')
  const quote = { id: sent?.id ?? '', sender: null, fromMe: true, text: 'Which size?' }
  const posted = await bed.hears('2', { quote })
  assert.match(posted.content, /^> `↪ .*\n> Which size\?\n\nMedium$/s)
  assert.equal(posted.originalText, '2')
})

test('a text that quotes another message is no answer to the newest offer', async () => {
  await using bed = await OutboundBed.open()
  await offer(bed)
  const older = bed.network.to(bed.bob).at(-1)?.id ?? ''
  await offer(bed, ['Red', 'Blue'])
  const quote = { id: older, sender: null, fromMe: true, text: 'Which size?' }
  const posted = await bed.hears('2', { quote })
  assert.match(posted.content, /\n\n2$/)
  assert.equal(posted.originalText, undefined)
})

test('an edit of an answer and a caption stay as they were written', async () => {
  await using bed = await OutboundBed.open()
  await offer(bed)
  const first = await bed.hears('2')
  const target = { chat: '5511888880001@s.whatsapp.net', id: first.sourceId ?? '', fromMe: false, participant: null }
  const { phone, lid } = bed.bob
  const own = envelope({ chat: { kind: 'person', phone, lid }, at: bed.network.now() })
  const edit = await bed.receive({ ...own, kind: 'edit', target, content: { type: 'text', text: '3' }, mentions: [] })
  assert.deepEqual([edit.content.endsWith('\n3'), edit.originalText], [true, undefined])
})

test('buttons of cards and options of forms are answered too', async () => {
  await using bed = await OutboundBed.open()
  const cards = [
    { title: 'Red shoe', actions: [{ type: 'postback', text: 'Buy', payload: 'a' }] },
    { title: 'Blue shoe', actions: [{ type: 'postback', text: 'Buy', payload: 'b' }] },
  ]
  await offer(bed, [], { content_type: 'cards', content_attributes: { items: cards } })
  assert.deepEqual(await answered(bed, '2'), { content: 'Blue shoe: Buy', originalText: '2' })
  assert.equal(await answered(bed, 'buy'), 'buy', 'both cards have this button')
  const fields = [
    { label: 'Size', options: [{ label: 'S' }] },
    { label: 'Colour', options: [{ label: 'Red' }] },
  ]
  await offer(bed, [], { content_type: 'form', content_attributes: { items: fields } })
  assert.deepEqual(await answered(bed, '2.'), { content: 'Red', originalText: '2.' })
})

test('a survey without a link is sent with the link that the helpdesk names', async () => {
  await using bed = await OutboundBed.open()
  const survey = { content_type: 'input_csat', message_type: 'template', sender: null }
  await bed.post(bed.callback(++ids, 'Please rate the conversation', survey))
  await bed.received(`Please rate the conversation\nhttps://desk.example/survey/responses/${bed.conversation}`)
  assert.equal(bed.helpdesk.calls.filter((call) => call === 'surveyLink').length, 1)
})

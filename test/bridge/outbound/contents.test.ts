// What is sent for a message of an agent: texts, recordings, signatures, and to which address.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attach } from './harness/attach-files.ts'
import { OutboundBed } from './harness/outbound-bed.ts'
import { reactions } from './harness/views.ts'

const mp3 = Buffer.concat([Buffer.from('ID3\x03\x00\x00\x00\x00\x00\x00', 'latin1'), Buffer.alloc(2000, 0x55)])
/** One page of Ogg that says Opus: enough to be told apart. */
const opus = Buffer.concat([Buffer.from('OggS'), Buffer.alloc(24), Buffer.from('OpusHead'), Buffer.alloc(400)])

test('the text of a recording, which has no caption, is a message of its own', async () => {
  await using bed = await OutboundBed.open()
  await attach(bed, 'listen', [{ name: 'song.mp3', bytes: mp3, type: 'audio/mpeg' }])
  await attach(bed, 'listen too', [{ name: 'mislabelled.jpg', bytes: opus, type: 'image/jpeg' }])
  await bed.until('all have arrived', () => bed.network.messages.length === 4)
  const texts = bed.texts().filter((text) => text !== undefined)
  assert.deepEqual(texts.sort(), ['listen', 'listen too'])
})

test('a single emoji in reply is a reaction where that is switched on; agents sign where signing is switched on', async () => {
  const environment = { SERVICE_EMOJI_REPLY_AS_REACTION: 'true', SERVICE_SIGN_MESSAGES: 'true' }
  await using bed = await OutboundBed.open({ environment })
  const asked = await bed.hears('thanks!')
  await bed.write('👍🏽', { content_attributes: { in_reply_to: asked.id } }, asked.conversationId)
  assert.deepEqual(reactions(bed), ['👍🏽'])
  const [sent] = bed.network.to(bed.bob)
  assert.equal(sent?.content.type === 'reaction' && sent.content.target.id, asked.sourceId)
  await bed.write('hello', {}, asked.conversationId)
  await bed.received('*Ana:*\nhello')
})

test('a text of which nothing is left to send is refused and does not wait', async () => {
  await using bed = await OutboundBed.open()
  const id = await bed.write('[]()')
  const shown = await bed.shown(id, ({ contentAttributes: { external_error: error } }) =>
    /nothing of the text is left/.test(String(error)),
  )
  assert.equal(shown.status, 'failed')
  const { pending, sent, failed } = await bed.outbox()
  assert.deepEqual([pending, sent, failed], [0, 0, 1])
})

test('a number is checked before the first message, in all its spellings, and a number without WhatsApp is refused', async () => {
  await using bed = await OutboundBed.open()
  const joao = bed.network.person({ phone: '553188887777', name: 'João' })
  const to = (phone: string) => ({
    conversation: { id: 50, inbox_id: 1, meta: { sender: { phone_number: `+${phone}` } } },
  })
  assert.equal((await bed.post(bed.callback(1, 'olá', to('5531988887777')))).status, 200)
  await bed.received('olá', joao)
  assert.ok(bed.network.lookUps.includes('553188887777'))
  const before = bed.network.lookUps.length
  assert.equal((await bed.post(bed.callback(2, 'de novo', to('5531988887777')))).status, 200)
  await bed.received('de novo', joao)
  assert.equal(bed.network.lookUps.length, before, 'the number is not asked for again')
  const { status, body } = await bed.post(bed.callback(3, 'nobody', to('5531900000000')))
  assert.equal(status, 500)
  assert.match((body as { error: string }).error, /not on WhatsApp/)
})

test('groups are written to, and a member named by phone is mentioned', async () => {
  await using bed = await OutboundBed.open()
  const eve = bed.network.person({ phone: '5511888880002', name: 'Eve' })
  const group = bed.network.group('Team', [bed.bob, eve])
  const conversation = { id: 60, inbox_id: 1, meta: { sender: { identifier: group } } }
  assert.equal((await bed.post(bed.callback(1, 'hi @+5511888880002', { conversation }))).status, 200)
  const { content } = await bed.received('hi @5511888880002', group)
  assert.deepEqual('mentions' in content && content.mentions, [{ phone: eve.phone, lid: eve.lid }])
})

test('a customer who writes from an anonymous address is answered there', async () => {
  await using bed = await OutboundBed.open()
  const lid = '200000000000001'
  const asked = await bed.hears('hello?', { address: { chat: `${lid}@lid`, participant: null } })
  await bed.write('yes?', {}, asked.conversationId)
  assert.equal((await bed.received('yes?')).to, `${lid}@lid`)
})

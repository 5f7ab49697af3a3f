// What a program sends over the API reaches the customer, and the conversation shows it as sent from the account.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { unwrap } from '../../../sim/network/people/received-message.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { png } from '../../harness/agent-files.ts'
import { engines } from '../../harness/databases.ts'
import { LoopbackServer } from '../../harness/loopback-server.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { send, sendToBob, shownAs } from './harness/direct-calls.ts'
import type { DirectReply } from './harness/direct-calls.ts'

const loopbackAllowed = { SERVICE_EGRESS_ALLOW: '127.0.0.1' }

for (const engine of engines) {
  describe(`on ${engine}`, { concurrency: 2 }, () => {
    test('a text arrives as it is written; the conversation shows it once, with its ticks', async () => {
      const environment = { SERVICE_DELIVERY_STATUS_SYNC: 'true', SERVICE_SIGN_MESSAGES: 'true' }
      await using world = await AgentWorld.open({ engine, environment })
      const { waid } = await sendToBob(world, { text: 'Your *order* is __ready__' })
      const received = await world.received('Your *order* is __ready__')
      assert.equal(received.id, waid)
      const shown = await world.arrived({ id: waid }, ({ status }) => status === 'delivered')
      assert.deepEqual([shown.messageType, shown.contentAttributes['external_echo']], ['outgoing', true])
      world.bob.receipt('read', [received])
      await world.arrived({ id: waid }, ({ status }) => status === 'read')
      await world.helpdesk.settled()
      assert.equal(shownAs(world, waid).length, 1)
      assert.deepEqual(world.texts(), ['Your *order* is __ready__'])
    })

    test('a file arrives with its caption, and the conversation has the file', async () => {
      await using files = await LoopbackServer.start((_, response) => response.end(png))
      await using world = await AgentWorld.open({ engine, environment: loopbackAllowed })
      const media_url = files.url('127.0.0.1', '/photo.png')
      const { waid } = await sendToBob(world, { media_url, caption: 'look' })
      const [received] = await waitForMessages(world, 1)
      assert.ok(received)
      assert.equal(unwrap(received.message).imageMessage?.caption, 'look')
      assert.deepEqual(world.bob.download(received), png)
      const shown = await world.arrived({ id: waid })
      assert.deepEqual([shown.content, shown.files.map(({ bytes }) => Buffer.from(bytes))], ['look', [png]])
      assert.equal(files.requests, 1)
    })
  })
}

test('a location and a contact card arrive, and the conversation names them', async () => {
  await using world = await AgentWorld.open()
  const location = { latitude: -23.5, longitude: -46.6, name: 'Shop', address: 'Rua A 1' }
  const place = await sendToBob(world, { location })
  const card = await sendToBob(world, { contact: { name: 'Ana; Souza, \\ 1\nEND:VCARD', phone: '+55 11 77777-0001' } })
  const [first, second] = (await waitForMessages(world, 2)).map(({ message }) => unwrap(message))
  const { degreesLatitude, degreesLongitude, name, address } = first?.locationMessage ?? {}
  assert.deepEqual({ latitude: degreesLatitude, longitude: degreesLongitude, name, address }, location)
  const vcard = second?.contactMessage?.vcard ?? ''
  assert.match(vcard, /\nTEL;type=CELL;type=VOICE;waid=5511777770001:\+5511777770001\n/)
  assert.match(vcard, /\nFN:Ana\\; Souza\\, \\\\ 1\\nEND:VCARD\n/)
  assert.match((await world.arrived({ id: place.waid })).content ?? '', /Shop[^]*Rua A 1/)
  assert.match((await world.arrived({ id: card.waid })).content ?? '', /\+5511777770001/)
})

test('a quote shows the quoted message on the phone and in the conversation', async () => {
  await using world = await AgentWorld.open()
  const asked = world.bob.text(world.phone, 'is it ready?')
  const original = await world.arrived(asked)
  const { waid } = await sendToBob(world, { text: 'yes', quote: asked.id })
  const { message } = await world.received('yes')
  assert.equal(message.extendedTextMessage?.contextInfo?.stanzaId, asked.id)
  const shown = await world.arrived({ id: waid })
  assert.equal(shown.contentAttributes['in_reply_to'], original.id)
  assert.equal(shown.conversationId, original.conversationId)
  const again = await sendToBob(world, { text: 'since noon', quote: waid })
  assert.equal((await world.arrived({ id: again.waid })).contentAttributes['in_reply_to'], shown.id)
})

test('a group and an anonymous id are reached by their jids', async () => {
  await using world = await AgentWorld.open()
  const { bob, network, phone } = world
  const group = network.group('Team', bob, [phone])
  const toGroup = await send(world, { to: group.jid, text: 'hello all' })
  assert.equal(toGroup.status, 200, toGroup.text)
  const { waid } = toGroup.body as DirectReply
  assert.equal((await world.received('hello all')).id, waid)
  const inGroup = await world.arrived({ id: waid })
  const toLid = await send(world, { to: '200000000000001@lid', text: 'hello you' })
  assert.equal(toLid.status, 200, toLid.text)
  await world.received('hello you')
  const alone = await world.arrived({ id: (toLid.body as DirectReply).waid })
  assert.notEqual(alone.conversationId, inGroup.conversationId)
})

test('a message to the own number goes to the chat with oneself', async () => {
  await using world = await AgentWorld.open()
  const { status, body, text } = await send(world, { to: world.phone.user.phone, text: 'note to self' })
  assert.equal(status, 200, text)
  const shown = await world.arrived({ id: (body as DirectReply).waid })
  assert.deepEqual([shown.messageType, shown.content], ['outgoing', 'note to self'])
  assert.notEqual(shown.conversationId, world.conversation)
})

test('a group without the account refuses for good', async () => {
  await using world = await AgentWorld.open()
  const { jid } = world.network.group('Other people', world.bob, [])
  const { status, body } = await send(world, { to: jid, text: 'hello' })
  assert.deepEqual([status, (body as DirectReply).error_code], [500, 'SERVICE_MESSAGE_REFUSED'])
  assert.match((body as DirectReply).error, /not in the group/)
})

test('a recording goes out without its caption, which follows as a text; both are in the conversation', async () => {
  const ogg = Buffer.concat([Buffer.from('OggS'), Buffer.alloc(24), Buffer.from('OpusHead'), Buffer.alloc(60)])
  await using files = await LoopbackServer.start((_, response) => response.end(ogg))
  await using world = await AgentWorld.open({ environment: loopbackAllowed })
  const { waid } = await sendToBob(world, { media_url: files.url('127.0.0.1', '/a.ogg'), caption: 'listen' })
  const [voice, text] = await waitForMessages(world, 2)
  assert.deepEqual([voice?.id, voice && unwrap(voice.message).audioMessage?.ptt], [waid, true])
  assert.ok(text)
  assert.equal((await world.arrived({ id: waid })).files.length, 1)
  assert.equal((await world.arrived({ id: text.id })).content, 'listen')
})

test('a direct message counts as sent, not as received', async () => {
  await using world = await AgentWorld.open()
  const { waid } = await sendToBob(world, { text: 'counted once' })
  await world.arrived({ id: waid })
  await world.drained()
  const { text } = await world.service.get('/metrics')
  const counts = text.split('\n').filter((line) => line.startsWith('service_messages_total{'))
  assert.equal(counts.length, 1, counts.join('\n'))
  assert.match(counts[0] ?? '', /direction="out".* 1$/)
  assert.deepEqual((await world.outbox())['sent'], 1)
})

async function waitForMessages({ bob }: AgentWorld, count: number) {
  await waitUntil('the messages have arrived', () => bob.messages.length >= count)
  return bob.messages.entries
}

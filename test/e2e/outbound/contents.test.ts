import { AgentWorld } from '../../harness/agent-world.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textOfMessage, unwrap } from '../../../sim/network/people/received-message.ts'
import { attach, kindsOf, png } from '../../harness/agent-files.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const mp3 = Buffer.concat([Buffer.from('ID3\x03\x00\x00\x00\x00\x00\x00', 'latin1'), Buffer.alloc(2000, 0x55)])
/** One page of Ogg that says Opus: enough to be told apart. */
const opus = Buffer.concat([Buffer.from('OggS'), Buffer.alloc(24), Buffer.from('OpusHead'), Buffer.alloc(400)])

test('every attachment is sent as what it is, the text with the first', async () => {
  await using world = await AgentWorld.open()
  await attach(world, '**look**', [
    { name: 'photo.bin', bytes: png, type: 'application/octet-stream' },
    { name: 'note.txt', bytes: Buffer.from('hello'), type: 'text/plain' },
    { name: 'voice.ogg', bytes: opus, type: 'audio/ogg' },
    { name: 'song.mp3', bytes: mp3, type: 'audio/mpeg' },
  ])
  await waitUntil('all have arrived', () => world.bob.messages.length === 4, {
    instead: () => kindsOf(world.bob.messages.entries),
  })
  const messages = world.bob.messages.entries
  assert.deepEqual(kindsOf(messages).slice(0, 1), ['imageMessage'])
  assert.equal(textOfMessage(messages[0]?.message ?? {}), '*look*')
  assert.match(kindsOf(messages)[1] ?? '', /^document/)
  const [voice, song] = messages.slice(2).map(({ message }) => unwrap(message).audioMessage)
  assert.deepEqual([voice?.ptt, song?.ptt ?? false], [true, false])
  await waitUntil('it is settled', async () => (await world.outbox())['sent'] === 1)
  const counted = () => world.metric('service_messages_total{direction="out",instance="n0",owner_tag=""}')
  await waitUntil('all parts are counted', async () => (await counted()) >= 4)
  assert.equal(await counted(), 4)
})

test('a hard break leaves no space at the end of its line, and no backslash reaches the customer', async () => {
  await using world = await AgentWorld.open()
  await world.write('line one \\\nline two  \n> 2*3\\*4 is \\# 1')
  await world.received('line one\nline two\n> 2*3*4 is # 1')
})

test('files at a host that cannot be reached are fetched from the configured one', async () => {
  await using world = await AgentWorld.open({ helpdesk: { frontendUrl: 'http://desk.invalid' } })
  await attach(world, 'photo', [{ name: 'p.png', bytes: png, type: 'image/png' }])
  await world.received('photo')
})

test('a redirect to object storage is followed where that is allowed, and refused with the setting that allows it', async () => {
  {
    await using world = await AgentWorld.open({
      helpdesk: { storage: 's3' },
      environment: { SERVICE_EGRESS_ALLOW: '127.0.0.1' },
    })
    await attach(world, 'stored elsewhere', [{ name: 'p.png', bytes: png, type: 'image/png' }])
    await world.received('stored elsewhere')
    assert.deepEqual(
      world.helpdesk.refusals.filter(({ kind }) => kind === 'leaked_token'),
      [],
    )
  }
  await using world = await AgentWorld.open({ helpdesk: { storage: 's3' } })
  const id = await attach(world, 'not allowed', [{ name: 'p.png', bytes: png, type: 'image/png' }])
  const shown = await world.shown(id, ({ contentAttributes }) =>
    /EGRESS/.test(String(contentAttributes['external_error'])),
  )
  assert.equal(shown.status, 'failed')
  assert.equal(world.bob.messages.length, 0)
})

test('an attachment over the size limit is refused with the reason', async () => {
  await using world = await AgentWorld.open({ environment: { SERVICE_MEDIA_MAX_BYTES: '64kb' } })
  const id = await attach(world, 'big', [{ name: 'big.bin', bytes: Buffer.alloc(100_000), type: 'application/zip' }])
  await world.shown(id, ({ contentAttributes }) =>
    /SERVICE_MEDIA_MAX_BYTES/.test(String(contentAttributes['external_error'])),
  )
})

test('a reply quotes the message it answers, the customer’s and our own, also after a restart', async () => {
  await using world = await AgentWorld.open()
  const question = world.bob.text(world.phone, 'when do you open?')
  const asked = await world.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === question.id)
  const conversation = asked.conversationId
  await world.write('at nine', { content_attributes: { in_reply_to: asked.id } }, conversation)
  const answer = await world.received('at nine')
  const quoted = unwrap(answer.message).extendedTextMessage?.contextInfo
  assert.equal(quoted?.stanzaId, question.id)
  assert.equal(quoted.quotedMessage?.conversation, 'when do you open?')
  const own = await world.helpdesk.waitForMessage(undefined, ({ content }) => content === 'at nine')
  await world.restart()
  await world.write('or ten', { content_attributes: { in_reply_to: own.id } }, conversation)
  const later = unwrap((await world.received('or ten')).message).extendedTextMessage?.contextInfo
  assert.deepEqual([later?.stanzaId, later?.quotedMessage?.conversation], [answer.id, 'at nine'])
})

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import type { SentMessage } from '../../../sim/network/people/sent-message.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { World } from '../../harness/world.ts'

type Wanted = { content: string; files?: [name: RegExp, type: string, kind: string][]; private?: boolean }
type Case = { name: string; send: (maria: SimPerson, ana: SimPhone) => { id: string }; wanted: Wanted }

const bytes = Buffer.from('the bytes of a file')
const ids = { contextInfo: {} }

const cases: Case[] = [
  { name: 'text', send: (maria, ana) => maria.text(ana, 'hi *you*'), wanted: { content: 'hi **you**' } },
  {
    name: 'text that looks like Markdown',
    send: (maria, ana) => maria.text(ana, '# 1\n2*3*4 = 24, see [x](y)'),
    wanted: { content: '\\# 1\n2*3\\*4 = 24, see [x]\\(y)' },
  },
  {
    name: 'image with caption',
    send: (maria, ana) => maria.media(ana, 'image', { bytes, caption: 'look ~here~' }),
    wanted: { content: 'look ~~here~~', files: [[/^image-.+\.jpg$/, 'image/jpeg', 'image']] },
  },
  {
    name: 'image without caption',
    send: (maria, ana) => maria.media(ana, 'image', { bytes }),
    wanted: { content: '', files: [[/\.jpg$/, 'image/jpeg', 'image']] },
  },
  {
    name: 'video',
    send: (maria, ana) => maria.media(ana, 'video', { bytes }),
    wanted: { content: '', files: [[/^video-.+\.mp4$/, 'video/mp4', 'video']] },
  },
  {
    name: 'gif',
    send: (maria, ana) => maria.media(ana, 'video', { bytes, gif: true }),
    wanted: { content: '', files: [[/^gif-.+\.mp4$/, 'video/mp4', 'video']] },
  },
  {
    name: 'voice note',
    send: (maria, ana) => maria.media(ana, 'audio', { bytes, voice: true }),
    wanted: { content: '', files: [[/^voice-.+\.ogg$/, 'audio/ogg', 'audio']] },
  },
  {
    name: 'audio file',
    send: (maria, ana) => maria.media(ana, 'audio', { bytes, mimetype: 'audio/mpeg' }),
    wanted: { content: '', files: [[/^audio-.+\.mp3$/, 'audio/mpeg', 'audio']] },
  },
  {
    name: 'document',
    send: (maria, ana) => maria.media(ana, 'document', { bytes, fileName: 'Übersicht 2026.pdf' }),
    wanted: { content: '', files: [[/^Übersicht 2026\.pdf$/, 'application/pdf', 'file']] },
  },
  {
    name: 'document with brackets and accents in its name',
    send: (maria, ana) => maria.media(ana, 'document', { bytes, fileName: 'Relatório final (1).pdf' }),
    wanted: { content: '', files: [[/^Relatório final \(1\)\.pdf$/, 'application/pdf', 'file']] },
  },
  {
    name: 'sticker',
    send: (maria, ana) => maria.media(ana, 'sticker', { bytes }),
    wanted: { content: '', files: [[/^sticker-.+\.webp$/, 'image/webp', 'image']] },
  },
  {
    name: 'location',
    send: (maria, ana) => maria.location(ana, -23.5, -46.6, 'Praça'),
    wanted: { content: '📍 Praça\nhttps://maps.google.com/?q=-23.5,-46.6' },
  },
  {
    name: 'live location',
    send: (maria, ana) =>
      maria.send(ana, { liveLocationMessage: { degreesLatitude: 1.5, degreesLongitude: 2.5, caption: 'coming' } }),
    wanted: { content: '📍 Live location\nhttps://maps.google.com/?q=1.5,2.5\ncoming' },
  },
  {
    name: 'contact card',
    send: (maria, ana) => maria.contactCard(ana, 'João', '5511977776666'),
    wanted: { content: '👤 João\n+5511977776666' },
  },
  {
    name: 'poll',
    send: (maria, ana) => maria.poll(ana, 'Lunch?', ['Pizza', 'Salad']),
    wanted: { content: '📊 Poll: Lunch?\n- Pizza\n- Salad' },
  },
  {
    name: 'reply to a list',
    send: (maria, ana) =>
      maria.send(ana, {
        listResponseMessage: { title: 'Option A', singleSelectReply: { selectedRowId: '1' }, ...ids },
      }),
    wanted: { content: 'Option A' },
  },
  {
    name: 'tapped button',
    send: (maria, ana) =>
      maria.send(ana, { templateButtonReplyMessage: { selectedId: '1', selectedDisplayText: 'Yes', ...ids } }),
    wanted: { content: 'Yes' },
  },
  {
    name: 'album',
    send: (maria, ana) => maria.send(ana, { albumMessage: { expectedImageCount: 3, expectedVideoCount: 1 } }),
    wanted: { content: '🖼️ Album: 3 photos and 1 video' },
  },
  {
    name: 'view once',
    send: (maria, ana) => ({ id: maria.viewOnce(ana) }),
    wanted: { content: '👁️ View-once file: it can only be opened on the phone' },
  },
  {
    name: 'text from an ad',
    send: (maria, ana) =>
      maria.send(ana, {
        extendedTextMessage: {
          text: 'I saw it',
          contextInfo: { externalAdReply: { title: 'Shoes', body: 'Now cheap', sourceUrl: 'https://ad.example/1' } },
        },
      }),
    wanted: { content: 'I saw it\n\n📣 Came from an ad: Shoes\nNow cheap\nhttps://ad.example/1' },
  },
  {
    name: 'a kind nobody knows',
    send: (maria, ana) => maria.send(ana, { eventMessage: { name: 'Party' } }),
    wanted: {
      content: '❔ Message of a kind that is not supported here (eventMessage). It can be seen on the phone.\nParty',
    },
  },
]

describe('every kind of content', () => {
  let world: World
  let maria: SimPerson
  before(async () => {
    world = await World.open()
    maria = world.network.person({ phone: '5511988887777', pushName: 'Maria' })
  })
  after(() => world[Symbol.asyncDispose]())

  for (const { name, send, wanted } of cases) {
    test(name, async () => {
      const sent = send(maria, world.phone)
      const message = await world.arrived(sent)
      assert.equal(message.content ?? '', wanted.content)
      assert.equal(message.messageType, 'incoming')
      assert.equal(message.sender?.name, 'Maria')
      assert.equal(message.private, wanted.private ?? false)
      assert.equal(message.files.length, wanted.files?.length ?? 0)
      for (const [at, [fileName, type, kind]] of (wanted.files ?? []).entries()) {
        const file = message.files[at]
        assert.match(file?.filename ?? '', fileName)
        assert.deepEqual([file?.contentType, file?.fileType], [type, kind])
        assert.deepEqual(Buffer.from(file?.bytes ?? []), bytes)
      }
    })
  }

  test('all messages are in one conversation of one contact, and the helpdesk refused nothing', async () => {
    await world.drained()
    const [contact, ...others] = world.helpdesk.see.contacts()
    assert.deepEqual(others, [])
    assert.equal(contact?.name, 'Maria')
    assert.equal(contact.phoneNumber, '+5511988887777')
    assert.equal(contact.identifier, '5511988887777@s.whatsapp.net')
    assert.deepEqual(contact.addresses, [{ inboxId: 1, sourceId: '5511988887777' }])
    assert.equal(world.helpdesk.see.conversations().length, 1)
    world.helpdesk.assertNothingRefused()
  })
})

describe('what refers to another message', () => {
  let world: World
  let maria: SimPerson
  let first: SentMessage
  before(async () => {
    world = await World.open()
    maria = world.network.person({ phone: '5511988887777', pushName: 'Maria' })
    first = maria.text(world.phone, 'the first one')
    await world.arrived(first)
  })
  after(() => world[Symbol.asyncDispose]())

  const replyTo = async (sent: { id: string }) => {
    const original = await world.arrived(first)
    const message = await world.arrived(sent)
    assert.equal(message.contentAttributes['in_reply_to'], original.id)
    return message
  }

  test('a quote', async () => {
    const message = await replyTo(maria.text(world.phone, 'indeed', { quote: first }))
    assert.equal(message.content, '> `↪ +5511988887777 · ~Maria`\n> the first one\n\nindeed')
  })

  test('a quote of what the owner wrote on the phone', async () => {
    const own = world.phone.text(maria, 'line one\nline two {{contact.name}}')
    const echo = await world.arrived(own)
    assert.equal(echo.messageType, 'outgoing')
    assert.equal(echo.content, 'line one\nline two {\u200b{contact.name}}')
    assert.equal(echo.contentAttributes['external_echo'], true)
    const [received] = maria.messages.entries.filter(({ id }) => id === own.id)
    assert.ok(received)
    const message = await world.arrived(maria.text(world.phone, 'yes', { quote: received }))
    assert.equal(message.contentAttributes['in_reply_to'], echo.id)
    assert.equal(message.content, '> `↪ +5511910000000`\n> line one\n> line two {{contact.name}}\n\nyes')
  })

  test("a quote of the owner's status", async () => {
    const status = world.phone.status('we are open')
    const context = {
      stanzaId: status.id,
      participant: world.phone.user.pnJid,
      remoteJid: 'status@broadcast',
      quotedMessage: { extendedTextMessage: { text: 'we are open' } },
    }
    const message = await world.arrived(maria.text(world.phone, 'until when?', { context }))
    assert.equal(message.content, '> `↪ +5511910000000`\n> we are open\n\nuntil when?')
    assert.equal(message.conversationId, (await world.arrived(first)).conversationId)
  })

  test('a reaction, and its end', async () => {
    const up = await replyTo(maria.react(first, '👍'))
    assert.equal(up.content, '`+5511988887777 · ~Maria`\nreacted with 👍')
    const gone = await replyTo(maria.react(first, ''))
    assert.equal(gone.content, '`+5511988887777 · ~Maria`\nremoved their reaction')
    await world.drained()
    const metrics = (await world.service.get('/metrics')).text
    assert.match(metrics, /service_realtime_events_total\{feature="reaction",result="ok",instance="n0"\} 2/)
  })

  test("the owner's own reaction is not posted", async () => {
    const [received] = world.phone.messages.entries.filter(({ id }) => id === first.id)
    assert.ok(received)
    const own = world.phone.react(received, '❤️')
    const later = maria.text(world.phone, 'later')
    await world.arrived(later)
    assert.ok(!world.helpdesk.messages().some(({ sourceId }) => sourceId === own.id))
  })

  test('an edit', async () => {
    const message = await replyTo(maria.edit(first, 'the *first* one'))
    assert.equal(message.content, '✏️ Edited:\nthe **first** one')
  })

  test('a vote', async () => {
    const poll = maria.poll(world.phone, 'Lunch?', ['Pizza', 'Salad'])
    const original = await world.arrived(poll)
    const vote = await world.arrived(maria.vote(poll, ['Salad']))
    assert.equal(vote.content, '🗳️ voted for: Salad')
    assert.equal(vote.private, true)
    assert.equal(vote.contentAttributes['in_reply_to'], original.id)
  })

  test('a deleted message', async () => {
    const message = await replyTo(maria.revoke(first))
    assert.equal(message.content, '🗑️ This message was deleted by its sender')
    assert.equal((await world.arrived(first)).content, 'the first one')
  })

  test('a call', async () => {
    const call = maria.call(world.phone, { video: true })
    const ringing = await world.arrived(call)
    assert.equal(ringing.content, '📹 Video call')
    call.end(true)
    const missed = await world.arrived(call, ({ id }) => id !== ringing.id)
    assert.equal(missed.content, '📹 Missed video call')
    assert.equal(missed.contentAttributes['in_reply_to'], ringing.id)
  })

  test('nothing was refused', async () => {
    await world.drained()
    assert.equal(world.helpdesk.see.conversations().length, 1)
    world.helpdesk.assertNothingRefused()
  })
})

// Every kind of message reaches the person as it was meant.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { proto } from '../../../sim/network/library.ts'
import { unwrap } from '../../../sim/network/people/received-message.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import type { MessageKey } from '../../../src/core/message.ts'
import type { OutgoingContent } from '../../../src/core/network/outgoing-content.ts'
import { Bed } from '../harness/bed.ts'
import { plain } from '../harness/contents.ts'
import { trustMediaHost } from '../../harness/media-authority.ts'
import { fileContent, Files, picture, recording } from '../harness/files.ts'

class Stage implements AsyncDisposable {
  readonly bed: Bed
  readonly bob: SimPerson
  readonly files: Files
  readonly #send: (chat: string, content: OutgoingContent) => Promise<string>

  private constructor(bed: Bed, bob: SimPerson, files: Files, send: Stage['send']) {
    this.bed = bed
    this.bob = bob
    this.files = files
    this.#send = send
  }

  static async open(): Promise<Stage> {
    const bed = await Bed.open()
    trustMediaHost(bed.sim)
    await bed.linked('s')
    const bob = bed.sim.person({ phone: '5511888880001', pushName: 'Bob' })
    const { session } = await bed.online('s')
    return new Stage(bed, bob, await Files.open(), async (chat, content) => {
      const id = session.newMessageId()
      await session.send(chat, content, id)
      return id
    })
  }

  send(chat: string, content: OutgoingContent): Promise<string> {
    return this.#send(chat, content)
  }

  /** What Bob sees of it, and the id it came under. */
  async toBob(content: OutgoingContent) {
    const id = await this.send(this.bob.user.pnJid, content)
    const received = await this.bob.messages.waitFor(content.type, (one) => one.id === id)
    return { id, received, seen: unwrap(received.message) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.files[Symbol.asyncDispose]()
    await this.bed[Symbol.asyncDispose]()
  }
}

test('texts come with whom they mention', async () => {
  await using stage = await Stage.open()
  const { bob } = stage
  const mentions = [
    { phone: '5511888880001', lid: bob.user.lid },
    { phone: '5511777770001', lid: null },
  ]
  const text = `hello @${bob.user.lid} and @5511777770001`
  const { received, seen } = await stage.toBob({ type: 'text', text, mentions, quote: null })
  assert.equal(received.message.messageContextInfo?.messageSecret?.length, 32)
  assert.equal(seen.extendedTextMessage?.text, text)
  assert.deepEqual(seen.extendedTextMessage.contextInfo?.mentionedJid, [
    bob.user.lidJid,
    '5511777770001@s.whatsapp.net',
  ])
})

test('a quote names the message, who wrote it, and what it said', async () => {
  await using stage = await Stage.open()
  const { bob, bed } = stage
  const chat = bob.user.pnJid
  const theirs = { chat, id: '3A0001', fromMe: false, participant: null }
  const answer = await stage.toBob({
    type: 'text',
    text: 'yes',
    mentions: [],
    quote: { key: theirs, text: 'coming?' },
  })
  const context = answer.seen.extendedTextMessage?.contextInfo
  assert.deepEqual(
    [context?.stanzaId, context?.participant, context?.quotedMessage?.conversation, context?.remoteJid ?? null],
    ['3A0001', chat, 'coming?', null],
  )
  const ours = { chat, id: answer.id, fromMe: true, participant: null }
  const again = await stage.toBob({ type: 'text', text: 'I said yes', mentions: [], quote: { key: ours, text: 'yes' } })
  const own = again.seen.extendedTextMessage?.contextInfo
  assert.deepEqual([own?.stanzaId, own?.participant], [answer.id, bed.sim.phone('5511999990001')?.user.pnJid])
})

test('reactions, edits and revokes name the message they are about', async () => {
  await using stage = await Stage.open()
  const chat = stage.bob.user.pnJid
  const { id } = await stage.toBob(plain('helo'))
  const own: MessageKey = { chat, id, fromMe: true, participant: null }
  const edited = await stage.toBob({ type: 'edit', target: own, text: 'hello' })
  const { Type } = proto.Message.ProtocolMessage
  assert.equal(edited.seen.protocolMessage?.type, Type.MESSAGE_EDIT)
  assert.equal(edited.seen.protocolMessage.key?.id, id)
  assert.equal(edited.seen.protocolMessage.editedMessage?.extendedTextMessage?.text, 'hello')
  assert.equal(edited.received.stanza.attrs['edit'], '1')
  const theirs: MessageKey = { chat, id: '3A0001', fromMe: false, participant: null }
  for (const emoji of ['👍', '']) {
    const { seen, received } = await stage.toBob({ type: 'reaction', target: theirs, emoji })
    assert.deepEqual([seen.reactionMessage?.text, seen.reactionMessage?.key?.id], [emoji, '3A0001'])
    assert.equal(seen.reactionMessage?.key?.fromMe, false)
    assert.equal(received.stanza.attrs['type'], 'reaction')
  }
  const revoked = await stage.toBob({ type: 'revoke', target: own })
  assert.equal(revoked.seen.protocolMessage?.type, Type.REVOKE)
  assert.equal(revoked.seen.protocolMessage.key?.id, id)
  assert.equal(revoked.received.stanza.attrs['edit'], '7')
})

test('an administrator revokes a message of another member', async () => {
  await using stage = await Stage.open()
  const { bed, bob } = stage
  const phone = bed.sim.phone('5511999990001')
  if (!phone) throw new Error('there is no phone')
  const group = bed.sim.group('Team', bob, [phone])
  const target = { chat: group.jid, id: '3A0001', fromMe: false, participant: bob.user.lidJid }
  const id = await stage.send(group.jid, { type: 'revoke', target })
  const received = await bob.messages.waitFor('the revoke', (one) => one.id === id)
  assert.equal(received.stanza.attrs['edit'], '8')
  assert.equal(unwrap(received.message).protocolMessage?.key?.participant, bob.user.lidJid)
})

test('pictures arrive whole, with caption, size and a tiny copy', async () => {
  await using stage = await Stage.open()
  const bytes = await picture(640, 480)
  const path = await stage.files.write('p.jpg', bytes)
  const content = fileContent({ kind: 'image', mimeType: 'image/jpeg', path, caption: 'look' })
  const { received, seen } = await stage.toBob(content)
  const image = seen.imageMessage
  assert.deepEqual(stage.bob.download(received), bytes)
  assert.deepEqual([image?.caption, image?.mimetype, image?.width, image?.height], ['look', 'image/jpeg', 640, 480])
  assert.equal(
    Buffer.from(image?.jpegThumbnail ?? [])
      .subarray(0, 2)
      .toString('hex'),
    'ffd8',
  )
  assert.ok((image?.jpegThumbnail?.length ?? 0) < 5_000)
  assert.equal(received.stanza.attrs['type'], 'media')
})

test('a picture that cannot be read as one is sent all the same', async () => {
  await using stage = await Stage.open()
  const bytes = randomBytes(1_000)
  const path = await stage.files.write('p.jpg', bytes)
  const { received, seen } = await stage.toBob(fileContent({ kind: 'image', mimeType: 'image/jpeg', path }))
  assert.deepEqual(stage.bob.download(received), bytes)
  assert.equal(seen.imageMessage?.caption ?? null, null)
})

test('videos, documents, stickers and recordings arrive whole and as what they are', async () => {
  await using stage = await Stage.open()
  const { bob, files } = stage
  const bytes = randomBytes(300_000)
  const path = await files.write('f', bytes)
  const video = await stage.toBob(fileContent({ kind: 'video', mimeType: 'video/mp4', path, caption: 'see' }))
  assert.deepEqual([bob.download(video.received), video.seen.videoMessage?.caption], [bytes, 'see'])
  const file = await stage.toBob(fileContent({ path, fileName: 'offer.pdf', caption: 'our offer' }))
  const { documentMessage } = file.seen
  assert.deepEqual(bob.download(file.received), bytes)
  assert.deepEqual(
    [documentMessage?.fileName, documentMessage?.caption, documentMessage?.mimetype],
    ['offer.pdf', 'our offer', 'application/pdf'],
  )
  const audio = await stage.toBob(fileContent({ kind: 'audio', mimeType: 'audio/mpeg', path }))
  assert.deepEqual([bob.download(audio.received), audio.seen.audioMessage?.ptt], [bytes, false])
  const drawn = await picture(512, 512, 'webp')
  const sticker = fileContent({ kind: 'sticker', mimeType: 'image/webp', path: await files.write('s.webp', drawn) })
  const { received, seen } = await stage.toBob(sticker)
  assert.deepEqual([bob.download(received), seen.stickerMessage?.width], [drawn, 512])
})

test('a voice note says that it is one, and how long', async () => {
  await using stage = await Stage.open()
  const bytes = recording(7)
  const path = await stage.files.write('v.ogg', bytes)
  const { received, seen } = await stage.toBob(fileContent({ kind: 'voice', mimeType: 'audio/ogg', path }))
  const { ptt, seconds, mimetype } = seen.audioMessage ?? {}
  assert.deepEqual(stage.bob.download(received), bytes)
  assert.deepEqual([ptt, seconds, mimetype], [true, 7, 'audio/ogg; codecs=opus'])
})

test('an empty file arrives empty', async () => {
  await using stage = await Stage.open()
  const path = await stage.files.write('empty', Buffer.alloc(0))
  const { received } = await stage.toBob(fileContent({ path }))
  assert.equal(stage.bob.download(received).length, 0)
})

// Checks how the unmodified client reads the rarer kinds of contents.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { downloadMediaMessage, proto } from 'baileys'
import { Stage } from './harness/stage.ts'

const { Type } = proto.Message.ProtocolMessage

test('a live location arrives with each of its positions', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  bob.liveLocation(phone, { latitude: -23.5, longitude: -46.6, caption: 'on my way' })
  bob.liveLocation(phone, { latitude: -23.6, longitude: -46.7, sequence: 2 })
  const first = await client.message('the share', (one) => one.message?.liveLocationMessage?.caption === 'on my way')
  assert.equal(first.message?.liveLocationMessage?.degreesLatitude, -23.5)
  await client.message('the next position', (one) => Number(one.message?.liveLocationMessage?.sequenceNumber) === 2)
})

test('several contact cards arrive in one message', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  const cards = [
    { name: 'Carl', phone: '5511777770000' },
    { name: 'Dora', phone: '5511777770001' },
  ]
  bob.contactCards(phone, cards)
  const { message } = await client.message('the cards', (one) => Boolean(one.message?.contactsArrayMessage))
  const contacts = message?.contactsArrayMessage?.contacts ?? []
  assert.deepEqual(
    contacts.map((one) => one.displayName),
    ['Carl', 'Dora'],
  )
  assert.match(contacts[1]?.vcard ?? '', /waid=5511777770001/)
})

test('a pressed button and a chosen row carry the choice and the message it answers', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  const sent = await client.socket.sendMessage(bob.user.pnJid, { text: 'choose' })
  const asked = await bob.messages.waitFor('the question', (one) => one.id === sent?.key.id)
  bob.buttonReply(phone, { id: 'yes', text: 'Yes, please' }, asked)
  bob.listReply(phone, { id: 'row-2', text: 'Second row' }, asked)
  const button = await client.message('the button', (one) => Boolean(one.message?.buttonsResponseMessage))
  const pressed = button.message?.buttonsResponseMessage
  assert.deepEqual([pressed?.selectedButtonId, pressed?.selectedDisplayText], ['yes', 'Yes, please'])
  assert.equal(pressed?.contextInfo?.stanzaId, asked.id)
  const list = await client.message('the row', (one) => Boolean(one.message?.listResponseMessage))
  assert.equal(list.message?.listResponseMessage?.singleSelectReply?.selectedRowId, 'row-2')
  assert.equal(list.message.listResponseMessage.contextInfo?.stanzaId, asked.id)
})

test('an album is announced with its count, and each file names the album', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  const { album, files } = bob.album(phone, [
    { kind: 'image', bytes: Buffer.from('one'), caption: 'first' },
    { kind: 'image', bytes: Buffer.from('two') },
    { kind: 'video', bytes: Buffer.from('three') },
  ])
  const announced = await client.message('the album', (one) => one.key.id === album.id)
  assert.equal(announced.message?.albumMessage?.expectedImageCount, 2)
  assert.equal(announced.message.albumMessage.expectedVideoCount, 1)
  const contents = ['one', 'two', 'three']
  for (const [index, file] of files.entries()) {
    const got = await client.message(`file ${index}`, (one) => one.key.id === file.id)
    const { messageAssociation } = got.message?.messageContextInfo ?? {}
    assert.equal(messageAssociation?.parentMessageKey?.id, album.id)
    assert.equal((await downloadMediaMessage(got, 'buffer', {})).toString(), contents[index])
  }
})

test('a view-once file that companions may open arrives wrapped', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  const sent = bob.media(phone, 'audio', { bytes: Buffer.from('psst'), voice: true, viewOnce: true })
  const got = await client.message('the voice note', (one) => one.key.id === sent.id)
  assert.equal(got.message?.viewOnceMessageV2?.message?.audioMessage?.ptt, true)
  assert.equal((await downloadMediaMessage(got, 'buffer', {})).toString(), 'psst')
})

test('an answer to an ad carries the ad, and a forwarded picture is marked as forwarded', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  const externalAdReply = { title: 'Shoes', sourceUrl: 'https://ads.example/1', sourceId: '1', ctwaClid: 'click' }
  bob.text(phone, 'is this available?', { context: { externalAdReply, entryPointConversionSource: 'ctwa_ad' } })
  const ad = (await client.textMessage('is this available?')).message?.extendedTextMessage?.contextInfo
  assert.equal(ad?.externalAdReply?.sourceUrl, 'https://ads.example/1')
  assert.equal(ad.entryPointConversionSource, 'ctwa_ad')
  bob.media(phone, 'image', { bytes: Buffer.from('x') }, { context: { isForwarded: true, forwardingScore: 5 } })
  const image = await client.message('the picture', (one) => Boolean(one.message?.imageMessage))
  assert.equal(image.message?.imageMessage?.contextInfo?.forwardingScore, 5)
})

test('the caption of a picture is edited as a caption', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  const sent = bob.media(phone, 'image', { bytes: Buffer.from('x'), caption: 'tpyo' })
  await client.message('the picture', (one) => one.key.id === sent.id)
  bob.edit(sent, 'typo')
  const [edit] = await client.event('messages.update', 'the edit', (all) => all.some((one) => one.key.id === sent.id))
  assert.equal(edit?.update.message?.editedMessage?.message?.imageMessage?.caption, 'typo')
})

test('contents made by hand arrive unchanged: wrapped ones, protocol messages, unknown kinds', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  bob.send(phone, { ephemeralMessage: { message: { extendedTextMessage: { text: 'soon gone' } } } })
  const wrapped = await client.message('the ephemeral text', (one) => Boolean(one.message?.ephemeralMessage))
  assert.equal(wrapped.message?.ephemeralMessage?.message?.extendedTextMessage?.text, 'soon gone')
  bob.send(phone, { protocolMessage: { type: Type.EPHEMERAL_SETTING, ephemeralExpiration: 604_800 } })
  await client.message('the timer', (one) => one.message?.protocolMessage?.ephemeralExpiration === 604_800)
  const image = bob.upload('image', Buffer.from('a product'), 'image/png')
  bob.send(phone, { productMessage: { product: { title: 'Shoes', productImage: image } } })
  const product = await client.message('the product', (one) => Boolean(one.message?.productMessage))
  assert.equal(product.message?.productMessage?.product?.productImage?.directPath, image.directPath)
  // A field that the client's protobuf does not know is absent after decoding.
  const unknown = bob.send(phone, {})
  const got = await client.message('the unknown kind', (one) => one.key.id === unknown.id)
  assert.deepEqual(Object.keys(got.message ?? {}), [])
})

test('the owner can send all of these contents from the phone, also a status update', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  phone.liveLocation(bob, { latitude: 1, longitude: 2 })
  phone.contactCards(bob, [{ name: 'Carl', phone: '5511777770000' }])
  const { files } = phone.album(bob, [{ kind: 'image', bytes: Buffer.from('mine') }])
  const poll = phone.poll(bob, 'Lunch?', ['Yes', 'No'])
  for (const field of [
    'liveLocationMessage',
    'contactsArrayMessage',
    'albumMessage',
    'pollCreationMessageV3',
  ] as const) {
    const own = await client.message(field, (one) => Boolean(one.message?.[field]))
    assert.deepEqual([own.key.fromMe, own.key.remoteJid], [true, bob.user.pnJid])
  }
  const file = await client.message('the file', (one) => one.key.id === files[0]?.id)
  assert.equal((await downloadMediaMessage(file, 'buffer', {})).toString(), 'mine')
  phone.revoke(poll)
  await client.event('messages.update', 'the revoke', (all) => all.some((one) => one.key.id === poll.id))
  phone.status('closed today')
  const status = await client.textMessage('closed today')
  // The client does not recognise its own status update by LID.
  assert.deepEqual([status.key.remoteJid, status.key.participant], ['status@broadcast', phone.user.lidJid])
})

test('a channel post reaches the client as a channel post, and the client acknowledges it', async () => {
  await using stage = await Stage.open()
  const { network, phone, client } = stage
  const newsletter = network.newsletter(phone)
  assert.notEqual(network.newsletter(phone).jid, newsletter.jid)
  const id = newsletter.post({ conversation: 'news' })
  const { key } = await client.textMessage('news')
  assert.equal(key.remoteJid, newsletter.jid)
  await network.waitForStanza('ack', (one) => one.attrs.id === id)
  assert.equal(phone.companion.books.size, 0)
})

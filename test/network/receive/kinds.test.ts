// Every kind of message, as a person's phone sends it, becomes exactly the event it should.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { proto } from 'baileys'
import type { Content, MessageEvent, NetworkEvent } from '../../../src/core/message.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'
import { plain } from '../harness/contents.ts'

const { Type } = proto.Message.ProtocolMessage
const { Type: Pin } = proto.Message.PinInChatMessage
const mediaKey = Buffer.alloc(32, 1)
const hash = Buffer.alloc(32, 2)
const file = {
  url: 'https://mmg.whatsapp.net/v/x',
  directPath: '/v/x',
  mediaKey,
  fileSha256: hash,
  fileEncSha256: hash,
  fileLength: 1234,
}
const fileRef = (kind: string) => ({
  kind,
  url: file.url,
  directPath: file.directPath,
  mediaKey: mediaKey.toString('base64'),
  sha256: hash.toString('base64'),
  encSha256: hash.toString('base64'),
})
const media = (kind: string, kindOfMedia: string, mimeType: string, more: object = {}) => ({
  type: 'media',
  media: kindOfMedia,
  file: fileRef(kind),
  mimeType,
  size: 1234,
  fileName: null,
  caption: null,
  seconds: null,
  ...more,
})
const text = (body: string) => ({ type: 'text', text: body })
const unsupported = (name: string, words: string | null = null) => ({ type: 'unsupported', name, text: words })
const poll = { name: 'Lunch?', options: [{ optionName: 'Yes' }, { optionName: 'No' }] }
const pollContent = { type: 'poll', question: 'Lunch?', options: ['Yes', 'No'] }
const hello: proto.IMessage = { conversation: 'hello' }
const image = { ...file, mimetype: 'image/png', caption: 'look' }
const imageContent = media('image', 'image', 'image/png', { caption: 'look' })
const vcard = (name: string, ...lines: string[]) => ['BEGIN:VCARD', `FN:${name}`, ...lines, 'END:VCARD'].join('\r\n')

const kinds: [string, proto.IMessage, unknown][] = [
  ['text', hello, text('hello')],
  ['extended text', { extendedTextMessage: { text: 'see https://x.example' } }, text('see https://x.example')],
  ['image', { imageMessage: image }, imageContent],
  [
    'video',
    { videoMessage: { ...file, mimetype: 'video/mp4', seconds: 9 } },
    media('video', 'video', 'video/mp4', { seconds: 9 }),
  ],
  ['gif', { videoMessage: { ...file, gifPlayback: true } }, media('video', 'gif', 'video/mp4')],
  ['video note', { ptvMessage: { ...file, seconds: 4 } }, media('video', 'video_note', 'video/mp4', { seconds: 4 })],
  [
    'audio',
    { audioMessage: { ...file, mimetype: 'audio/mp4', seconds: 5 } },
    media('audio', 'audio', 'audio/mp4', { seconds: 5 }),
  ],
  [
    'voice note',
    { audioMessage: { ...file, ptt: true, seconds: 5 } },
    media('audio', 'voice', 'audio/ogg; codecs=opus', { seconds: 5 }),
  ],
  [
    'document',
    { documentMessage: { ...file, fileName: 'a.pdf', mimetype: 'application/pdf' } },
    media('document', 'document', 'application/pdf', { fileName: 'a.pdf' }),
  ],
  [
    'document with caption',
    { documentWithCaptionMessage: { message: { documentMessage: { ...file, title: 'a.pdf', caption: 'read' } } } },
    media('document', 'document', 'application/octet-stream', { fileName: 'a.pdf', caption: 'read' }),
  ],
  ['sticker', { stickerMessage: { ...file, mimetype: 'image/webp' } }, media('sticker', 'sticker', 'image/webp')],
  [
    'lottie sticker',
    { lottieStickerMessage: { message: { stickerMessage: { ...file, mimetype: 'application/was' } } } },
    media('sticker', 'sticker', 'application/was'),
  ],
  [
    'location',
    { locationMessage: { degreesLatitude: -23.5, degreesLongitude: -46.6, name: 'Office', address: 'Street 1' } },
    {
      type: 'location',
      latitude: -23.5,
      longitude: -46.6,
      name: 'Office',
      address: 'Street 1',
      caption: null,
      live: false,
    },
  ],
  [
    'live location',
    { liveLocationMessage: { degreesLatitude: 1.5, degreesLongitude: 2.5, caption: 'on my way' } },
    { type: 'location', latitude: 1.5, longitude: 2.5, name: null, address: null, caption: 'on my way', live: true },
  ],
  [
    'contact card',
    {
      contactMessage: {
        displayName: 'Eve',
        vcard: vcard('Eve', 'ORG:Acme;Sales;', 'TEL;type=CELL;waid=551177:+55 11 77', 'item1.TEL:123'),
      },
    },
    { type: 'contacts', cards: [{ name: 'Eve', phones: ['+551177', '123'], organisation: 'Acme, Sales' }] },
  ],
  [
    'contact cards',
    { contactsArrayMessage: { contacts: [{ vcard: vcard('A') }, { displayName: 'B', vcard: 'junk' }] } },
    { type: 'contacts', cards: ['A', 'B'].map((name) => ({ name, phones: [], organisation: null })) },
  ],
  ...(['pollCreationMessage', 'pollCreationMessageV2', 'pollCreationMessageV3', 'pollCreationMessageV5'] as const).map(
    (name): [string, proto.IMessage, unknown] => [name, { [name]: poll }, pollContent],
  ),
  ['poll inside a wrapper', { pollCreationMessageV4: { message: { pollCreationMessageV3: poll } } }, pollContent],
  [
    'poll results',
    { pollResultSnapshotMessage: { name: 'Lunch?', pollVotes: [{ optionName: 'Yes', optionVoteCount: 2 }] } },
    unsupported('pollResultSnapshotMessage', 'Lunch?\n• Yes: 2'),
  ],
  [
    'list reply',
    { listResponseMessage: { title: 'Row', description: 'details', singleSelectReply: { selectedRowId: '1' } } },
    { type: 'choice', text: 'Row', description: 'details' },
  ],
  [
    'button reply',
    { buttonsResponseMessage: { selectedButtonId: 'y', selectedDisplayText: 'Yes' } },
    { type: 'choice', text: 'Yes', description: null },
  ],
  [
    'template reply',
    { templateButtonReplyMessage: { selectedId: 'y', selectedDisplayText: 'Yes' } },
    { type: 'choice', text: 'Yes', description: null },
  ],
  [
    'interactive reply',
    { interactiveResponseMessage: { body: { text: 'Tuesday' } } },
    { type: 'choice', text: 'Tuesday', description: null },
  ],
  [
    'buttons',
    {
      buttonsMessage: {
        contentText: 'Sure?',
        footerText: 'Acme',
        buttons: [{ buttonText: { displayText: 'Yes' } }, { buttonText: { displayText: 'No' } }],
      },
    },
    text('Sure?\nAcme\n• Yes\n• No'),
  ],
  [
    'buttons under a picture',
    { buttonsMessage: { contentText: 'Sure?', imageMessage: image } },
    { ...imageContent, caption: 'Sure?' },
  ],
  [
    'list',
    {
      listMessage: {
        title: 'Menu',
        description: 'Pick',
        sections: [{ title: 'Hot', rows: [{ title: 'Tea', description: 'green' }, { title: 'Coffee' }] }],
      },
    },
    text('Menu\nPick\nHot\n• Tea: green\n• Coffee'),
  ],
  [
    'template',
    {
      templateMessage: {
        hydratedTemplate: {
          hydratedTitleText: 'Order',
          hydratedContentText: 'Shipped',
          hydratedButtons: [{ urlButton: { displayText: 'Track', url: 'https://t.example' } }],
        },
      },
    },
    text('Order\nShipped\n• Track https://t.example'),
  ],
  [
    'interactive',
    {
      interactiveMessage: {
        header: { title: 'Hi' },
        body: { text: 'Choose' },
        nativeFlowMessage: {
          buttons: [{ name: 'quick_reply', buttonParamsJson: '{"display_text":"A"}' }, { buttonParamsJson: '{' }],
        },
      },
    },
    text('Hi\nChoose\n• A'),
  ],
  [
    'order',
    {
      orderMessage: {
        orderTitle: 'Order 7',
        itemCount: 2,
        totalAmount1000: 12500,
        totalCurrencyCode: 'BRL',
        message: 'thanks',
      },
    },
    text('Order 7\n2 × BRL 12.50\nthanks'),
  ],
  [
    'product',
    { productMessage: { product: { title: 'Mug', priceAmount1000: 9990, currencyCode: 'BRL', productImage: image } } },
    { ...imageContent, caption: 'Mug\nBRL 9.99' },
  ],
  ['invoice', { invoiceMessage: { note: 'May' } }, unsupported('invoiceMessage', 'May')],
  [
    'album',
    { albumMessage: { expectedImageCount: 2, expectedVideoCount: 1 } },
    { type: 'album', images: 2, videos: 1 },
  ],
  ['view once', { viewOnceMessage: { message: { imageMessage: image } } }, { type: 'view_once', media: 'image' }],
  [
    'view once, second version',
    { viewOnceMessageV2: { message: { videoMessage: file } } },
    { type: 'view_once', media: 'video' },
  ],
  [
    'view once, voice',
    { viewOnceMessageV2Extension: { message: { audioMessage: { ...file, ptt: true } } } },
    { type: 'view_once', media: 'voice' },
  ],
  ['view once by its flag', { imageMessage: { ...image, viewOnce: true } }, { type: 'view_once', media: 'image' }],
  [
    'group invitation',
    { groupInviteMessage: { groupName: 'Team', caption: 'come in', inviteCode: 'x' } },
    unsupported('groupInviteMessage', 'Team\ncome in'),
  ],
  [
    'event',
    {
      eventMessage: {
        name: 'Party',
        description: 'bring cake',
        startTime: 1_700_000_000,
        location: { name: 'Office' },
      },
    },
    unsupported('eventMessage', 'Party\n2023-11-14T22:13:20.000Z\nOffice\nbring cake'),
  ],
  ['pin', { pinInChatMessage: { key: { id: 'X' }, type: Pin.PIN_FOR_ALL } }, { type: 'mark', mark: 'pinned' }],
  [
    'keep',
    { keepInChatMessage: { key: { id: 'X' }, keepType: proto.KeepType.KEEP_FOR_ALL } },
    { type: 'mark', mark: 'kept' },
  ],
  ['unpin', { pinInChatMessage: { key: { id: 'X' }, type: Pin.UNPIN_FOR_ALL } }, { type: 'mark', mark: 'unpinned' }],
  [
    'keep no longer',
    { keepInChatMessage: { key: { id: 'X' }, keepType: proto.KeepType.UNDO_KEEP_FOR_ALL } },
    { type: 'mark', mark: 'unkept' },
  ],
  ['payment', { sendPaymentMessage: {} }, unsupported('sendPaymentMessage')],
  ['call log', { callLogMesssage: { isVideo: true } }, unsupported('callLogMesssage')],
  ...(
    [
      'ephemeralMessage',
      'groupMentionedMessage',
      'botInvokeMessage',
      'groupStatusMessage',
      'groupStatusMessageV2',
      'associatedChildMessage',
      'statusMentionMessage',
      'questionMessage',
      'limitSharingMessage',
    ] as const
  ).map((name): [string, proto.IMessage, unknown] => [
    `text in ${name}`,
    { [name]: { message: hello } },
    text('hello'),
  ]),
  [
    'wrapper in wrapper',
    { ephemeralMessage: { message: { documentWithCaptionMessage: { message: { imageMessage: image } } } } },
    imageContent,
  ],
]

async function message(bed: Bed, id: string): Promise<MessageEvent> {
  const event = await bed.event(id)
  assert.ok(event.kind === 'message', JSON.stringify(event))
  return event
}

test('every kind of content', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  await bed.online('s')
  for (const [name, sent, expected] of kinds) {
    const { content } = await message(bed, bob.send(phone, sent).id)
    assert.deepEqual(content, expected as Content, name)
  }
})

test('quotes, mentions, advertisements and secrets', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001', lid: '100000000000001' })
  const eve = bed.sim.person({ phone: '5511888880002', lid: '100000000000002' })
  const { session } = await bed.online('s')
  await session.send(bob.user.pnJid, plain('ours'), '3EB0000000000001')
  const ours = await bob.messages.waitFor('our message', ({ id }) => id === '3EB0000000000001')
  const quoting = await message(bed, bob.text(phone, 'yes', { quote: ours }).id)
  const own = { phone: '5511999990001', lid: phone.user.lidJid.replace('@lid', '') }
  assert.deepEqual(quoting.quote, { id: ours.id, sender: own, fromMe: true, text: 'ours' })
  const bare = bob.media(phone, 'image', { bytes: Buffer.from('x') })
  const { quote: ofPicture } = await message(bed, bob.text(phone, 'that', { quote: bare }).id)
  assert.deepEqual([ofPicture?.text, ofPicture?.media], [null, 'image'])
  const mention = await message(bed, bob.text(phone, 'ask @5511888880002', { mentions: [eve] }).id)
  assert.deepEqual(
    mention.mentions.map(({ phone: number }) => number),
    ['5511888880002'],
  )
  const asked = bob.text(phone, 'ask @5511888880002', { mentions: [eve] })
  const quotesMention = await message(bed, bob.text(phone, 'who?', { quote: asked }).id)
  assert.deepEqual(quotesMention.quote?.mentions, mention.mentions)
  const externalAdReply = { title: 'Sale', body: 'Now', sourceUrl: 'https://ad.example' }
  const fromAd = await message(bed, bob.text(phone, 'hi', { context: { externalAdReply } }).id)
  assert.deepEqual(fromAd.ad, { title: 'Sale', body: 'Now', url: 'https://ad.example' })
  const messageSecret = randomBytes(32)
  const secret = await message(bed, bob.send(phone, { conversation: 'hi', messageContextInfo: { messageSecret } }).id)
  assert.equal(secret.secret, messageSecret.toString('base64'))
})

test('reactions, edits and revokes name their message from our side', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const eve = bed.sim.person({ phone: '5511888880002' })
  const group = bed.sim.group('Team', bob, [phone, eve])
  const { session } = await bed.online('s')
  await session.send(bob.user.pnJid, plain('ours'), '3EB0000000000001')
  const ours = await bob.messages.waitFor('our message', ({ id }) => id === '3EB0000000000001')
  const chat = bob.user.pnJid
  const about = async (id: string): Promise<Partial<NetworkEvent>> => {
    const { kind, ...event } = await bed.event(id)
    return 'target' in event ? { kind, target: event.target } : { kind }
  }
  assert.deepEqual(await about(bob.react(ours, '👍').id), {
    kind: 'reaction',
    target: { chat, id: ours.id, fromMe: true, participant: null },
  })
  const theirs = bob.text(phone, 'theirs')
  const target = { chat, id: theirs.id, fromMe: false, participant: null }
  assert.deepEqual(await about(bob.react(theirs, '').id), { kind: 'reaction', target })
  assert.deepEqual(await about(bob.edit(theirs, 'changed').id), { kind: 'edit', target })
  assert.deepEqual(await about(bob.revoke(theirs).id), { kind: 'revoke', target })
  const inGroup = eve.text(group, 'in the group')
  const received = await bob.messages.waitFor('it', ({ id }) => id === inGroup.id)
  const participant = eve.user.jid(group.addressing)
  const groupTarget = { chat: group.jid, id: inGroup.id, fromMe: false, participant }
  assert.deepEqual(await about(bob.react(received, '🎉').id), { kind: 'reaction', target: groupTarget })
  assert.deepEqual(
    await about(bob.revoke(received).id),
    { kind: 'revoke', target: groupTarget },
    'by the administrator',
  )
  assert.deepEqual(await about(eve.revoke(inGroup).id), { kind: 'revoke', target: groupTarget }, 'by the author')
  const edit = await bed.event(eve.edit(inGroup, 'better').id)
  assert.ok(edit.kind === 'edit')
  assert.deepEqual(edit.content, { type: 'text', text: 'better' })
})

test('votes and sealed edits open with the secret of their message', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const eve = bed.sim.person({ phone: '5511888880002' })
  const group = bed.sim.group('Team', bob, [phone, eve])
  await bed.online('s')
  for (const chat of [phone, group]) {
    const sent = bob.poll(chat, 'Lunch?', ['Yes', 'No', 'Later'])
    const asked = await message(bed, sent.id)
    const vote = await bed.event(bob.vote(sent, ['No']).id)
    assert.ok(vote.kind === 'sealed' && vote.purpose === 'poll_vote')
    const target = { secret: asked.secret ?? '', sender: asked.sender, ownJid: phone.user.pnJid }
    const known = { ...target, pollOptions: ['Yes', 'No', 'Later'] }
    assert.deepEqual(bed.network.unseal(vote, known), { type: 'poll_vote', options: ['No'] })
    assert.equal(bed.network.unseal(vote, { ...known, secret: randomBytes(32).toString('base64') }), null)
  }
  const sealed = { encPayload: randomBytes(40), encIv: randomBytes(12), targetMessageKey: { id: 'X', fromMe: true } }
  const secretEncType = proto.Message.SecretEncryptedMessage.SecretEncType.MESSAGE_EDIT
  const edit = await bed.event(bob.send(phone, { secretEncryptedMessage: { ...sealed, secretEncType } }).id)
  assert.ok(edit.kind === 'sealed' && edit.purpose === 'edit')
  const reaction = await bed.event(bob.send(group, { encReactionMessage: sealed }).id)
  assert.ok(reaction.kind === 'sealed' && reaction.purpose === 'reaction')
})

test('contents without meaning for people are passed over and counted', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  await bed.online('s')
  bob.status('my day')
  bob.send(phone, { protocolMessage: { type: Type.INITIAL_SECURITY_NOTIFICATION_SETTING_SYNC } })
  const timer = await bed.event(
    bob.send(phone, { protocolMessage: { type: Type.EPHEMERAL_SETTING, ephemeralExpiration: 60 } }).id,
  )
  assert.ok(timer.kind === 'group')
  assert.deepEqual(timer.changes, [{ change: 'ephemeral', seconds: 60 }])
  await waitUntil('both are counted', () => new Set(bed.passedOver).size === 2)
  assert.deepEqual([...new Set(bed.passedOver)].toSorted(), [
    'protocol INITIAL_SECURITY_NOTIFICATION_SETTING_SYNC',
    'status',
  ])
})

test('zero characters, which no database takes, are left out', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001', pushName: 'B\0ob' })
  await bed.online('s')
  const event = await bed.event(bob.text(phone, 'he\0llo').id)
  assert.ok(event.kind === 'message')
  assert.deepEqual([event.pushName, event.content], ['Bob', text('hello')])
})

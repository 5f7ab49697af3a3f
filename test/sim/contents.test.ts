// Checks every kind of message without a file, calls and view-once notices with the real client.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decryptPollVote, proto, type WAMessage } from 'baileys'
import {
  kindOfMessage,
  textOfMessage,
  unwrap,
  type ReceivedMessage,
} from '../../sim/network/people/received-message.ts'
import type { SimPerson } from '../../sim/network/people/sim-person.ts'
import { Stage } from './harness/stage.ts'

/** Sends from the client and returns the message that the person received. */
async function received(bob: SimPerson, sent: Promise<WAMessage | undefined>): Promise<ReceivedMessage> {
  const id = (await sent)?.key.id
  return bob.messages.waitFor(`message ${id ?? ''}`, (one) => one.id === id)
}

test('a person and the client quote and mention', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  const first = bob.text(phone, 'the original')
  const original = await client.textMessage('the original')
  bob.text(phone, 'about that', { quote: first, mentions: [phone] })
  const quoting = await client.textMessage('about that')
  const context = quoting.message?.extendedTextMessage?.contextInfo
  assert.equal(context?.stanzaId, first.id)
  assert.equal(context.participant, bob.user.pnJid)
  assert.equal(context.quotedMessage?.conversation, 'the original')
  assert.deepEqual(context.mentionedJid, [phone.user.pnJid])
  const answer = client.socket.sendMessage(
    bob.user.pnJid,
    { text: 'quoting you', mentions: [bob.user.pnJid] },
    { quoted: original },
  )
  const got = await received(bob, answer)
  assert.equal(got.message.extendedTextMessage?.contextInfo?.stanzaId, first.id)
  assert.deepEqual(got.message.extendedTextMessage.contextInfo.mentionedJid, [bob.user.pnJid])
})

test('reactions are added and removed in both directions', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  const own = await received(bob, client.socket.sendMessage(bob.user.pnJid, { text: 'like me' }))
  for (const emoji of ['👍', '']) {
    bob.react(own, emoji)
    const reactions = await client.event('messages.reaction', `reaction "${emoji}"`, (all) =>
      all.some((one) => one.reaction.text === emoji),
    )
    assert.equal(reactions[0]?.key.id, own.id)
    assert.equal(reactions[0].key.fromMe, true)
  }
  const sent = bob.text(phone, 'like me too')
  const { key } = await client.textMessage('like me too')
  const reaction = await received(bob, client.socket.sendMessage(bob.user.pnJid, { react: { text: '❤️', key } }))
  assert.equal(reaction.message.reactionMessage?.text, '❤️')
  assert.equal(reaction.message.reactionMessage.key?.id, sent.id)
})

test('edits and revokes name the message they change, in both directions', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  const sent = bob.text(phone, 'tpyo')
  await client.textMessage('tpyo')
  bob.edit(sent, 'typo')
  const edits = await client.event('messages.update', 'the edit', (all) =>
    all.some((one) => one.update.message?.editedMessage?.message?.conversation === 'typo'),
  )
  assert.equal(edits[0]?.key.id, sent.id)
  bob.revoke(sent)
  await client.event('messages.update', 'the revoke', (all) =>
    all.some((one) => one.key.id === sent.id && one.update.message === null),
  )
  const own = await client.socket.sendMessage(bob.user.pnJid, { text: 'mine' })
  if (!own) throw new Error('nothing was sent')
  // A copy, because the client writes the key of the edit into the key of the message it returned.
  const key = { ...own.key }
  const edit = await received(bob, client.socket.sendMessage(bob.user.pnJid, { text: 'mine!', edit: key }))
  assert.equal(unwrap(edit.message).protocolMessage?.editedMessage?.extendedTextMessage?.text, 'mine!')
  assert.equal(edit.stanza.attrs.edit, '1')
  const revoke = await received(bob, client.socket.sendMessage(bob.user.pnJid, { delete: key }))
  assert.equal(revoke.message.protocolMessage?.type, proto.Message.ProtocolMessage.Type.REVOKE)
  assert.equal(revoke.message.protocolMessage.key?.id, key.id)
})

test('locations and contact cards arrive in both directions', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  bob.location(phone, -23.5, -46.6, 'Praça')
  const place = await client.message('the location', (one) => Boolean(one.message?.locationMessage))
  assert.equal(place.message?.locationMessage?.degreesLatitude, -23.5)
  assert.equal(place.message.locationMessage.name, 'Praça')
  bob.contactCard(phone, 'Carl', '5511777770000')
  const card = await client.message('the card', (one) => Boolean(one.message?.contactMessage))
  assert.match(card.message?.contactMessage?.vcard ?? '', /waid=5511777770000/)
  const location = { degreesLatitude: 1, degreesLongitude: 2 }
  const sentPlace = await received(bob, client.socket.sendMessage(bob.user.pnJid, { location }))
  assert.equal(sentPlace.message.locationMessage?.degreesLongitude, 2)
  const contacts = { displayName: 'Eve', contacts: [{ vcard: 'BEGIN:VCARD\nEND:VCARD' }] }
  const sentCard = await received(bob, client.socket.sendMessage(bob.user.pnJid, { contacts }))
  assert.equal(kindOfMessage(sentCard.message), 'contactMessage')
})

test('polls go in both directions, and the client can count votes', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  bob.poll(phone, 'Lunch?', ['Yes', 'No'])
  const asked = await client.message('the poll', (one) => Boolean(one.message?.pollCreationMessageV3))
  assert.equal(asked.message?.pollCreationMessageV3?.name, 'Lunch?')
  const poll = { name: 'Dinner?', values: ['Pizza', 'Soup'], selectableCount: 1 }
  const own = await received(bob, client.socket.sendMessage(bob.user.pnJid, { poll }))
  bob.vote(own, ['Soup'])
  const voted = await client.message('the vote', (one) => Boolean(one.message?.pollUpdateMessage))
  const vote = decryptPollVote(voted.message?.pollUpdateMessage?.vote ?? {}, {
    pollCreatorJid: phone.user.pnJid,
    pollMsgId: own.id,
    pollEncKey: own.message.messageContextInfo?.messageSecret ?? Buffer.alloc(0),
    voterJid: bob.user.pnJid,
  })
  assert.equal(vote.selectedOptions.length, 1)
})

test('the client gets only a notice of a view-once message, acknowledges it and emits nothing', async () => {
  await using stage = await Stage.open()
  const { network, phone, bob, client } = stage
  const id = bob.viewOnce(phone, { id: '3AONCE' })
  assert.equal(id, '3AONCE')
  await network.waitForStanza('ack', (one) => one.attrs.id === id)
  assert.equal(client.messages().length, 0)
  const seen = await phone.messages.waitFor('the picture on the phone', (one) => one.id === id)
  assert.equal(kindOfMessage(seen.message), 'imageMessage')
  assert.equal(phone.undecryptable.length, 0)
  assert.equal(phone.companion.books.size, 0)
})

test('a call rings, can be refused, and ends', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  const call = bob.call(phone, { video: true })
  const [offer] = await client.event('call', 'the offer', (calls) => calls.some((one) => one.status === 'offer'))
  assert.equal(offer?.id, call.id)
  assert.equal(offer.isVideo, true)
  assert.equal(offer.callerPn, bob.user.pnJid)
  await client.socket.rejectCall(offer.id, offer.from)
  await bob.side.waitFor('the refusal', (one) => one.tag === 'call' && JSON.stringify(one).includes('reject'))
  call.end(true)
  await client.event('call', 'the end', (calls) => calls.some((one) => one.status === 'timeout'))
})

test('the owner can send all of these contents on the phone', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  const sent = phone.text(bob, 'from the phone')
  await client.textMessage('from the phone')
  phone.edit(sent, 'from my phone')
  await client.event('messages.update', 'the edit', (all) => all.some((one) => one.key.id === sent.id))
  bob.text(phone, 'nice')
  const nice = await phone.messages.waitFor('nice', (one) => textOfMessage(one.message) === 'nice')
  phone.react(nice, '👍')
  const [reaction] = await client.event('messages.reaction', 'the own reaction')
  assert.equal(reaction?.key.id, nice.id)
})

test('a status update reaches the client as a status, not as a chat message', async () => {
  await using stage = await Stage.open()
  const { network, phone, bob, client } = stage
  const status = bob.status('at the beach')
  const { key } = await client.textMessage('at the beach')
  assert.equal(key.remoteJid, 'status@broadcast')
  assert.equal(key.participant, bob.user.lidJid)
  await network.waitForStanza('receipt', (one) => one.attrs.id === status.id)
  assert.deepEqual(phone.companion.books.unacknowledgedIds(), [])
})

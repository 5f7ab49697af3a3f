// Checks what a phone keeps of its chats: edits, reactions and deletions with their messages, chats of LIDs, large archives.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proto } from 'baileys'
import { carriedMedia } from '../../sim/network/media/media-contents.ts'
import { fillArchive } from '../../sim/network/past/fill-archive.ts'
import { textOfMessage } from '../../sim/network/people/received-message.ts'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { ANA, BOB } from './harness/cast.ts'
import { HistoryClient } from './harness/history-client.ts'

const { StubType } = proto.WebMessageInfo

test('edits, reactions and deletions of the present change the message that they are about', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person(BOB)
  const received = (id: string) => phone.messages.waitFor('the message', (one) => one.id === id)
  const typo = bob.text(phone, 'helo')
  await received(typo.id)
  await received(bob.edit(typo, 'hello').id)
  phone.react(await received(typo.id), '👍')
  phone.react(await received(typo.id), '❤️')
  const wrong = bob.text(phone, 'wrong chat')
  await received(wrong.id)
  await received(bob.revoke(wrong).id)
  const [chat] = phone.archive.chats()
  const infos = chat ? phone.archive.oldestFirst(chat).map((one) => one.info) : []
  assert.deepEqual(
    infos.map((one) => one.key?.id),
    [typo.id, wrong.id],
  )
  const edit = infos[0]?.message?.editedMessage?.message?.protocolMessage
  assert.equal(edit?.key?.id, typo.id)
  assert.equal(edit.editedMessage?.conversation, 'hello')
  assert.deepEqual(
    infos[0]?.reactions?.map(({ key, text }) => [key?.fromMe, text]),
    [[true, '❤️']],
  )
  assert.deepEqual([infos[1]?.messageStubType, infos[1]?.message], [StubType.REVOKE, null])
})

test('a phone keeps the newest messages of the present and every message that it was told to remember', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person(BOB)
  const remembered = Array.from({ length: 3_000 }, (_, n) => phone.remember(bob, { text: 'old', at: 1_000 + n }))
  const live = Array.from({ length: 2_500 }, (_, n) => phone.text(bob, `now ${n}`).id)
  const [chat] = phone.archive.chats()
  const ids = chat ? phone.archive.oldestFirst(chat).map((one) => one.info.key?.id ?? '') : []
  assert.deepEqual(ids.slice(0, 3_000), remembered)
  assert.deepEqual(ids.slice(3_000), live.slice(3_000 - ids.length))
  assert.ok(ids.length >= 4_000 && ids.length <= 5_000, `${ids.length} messages`)
  assert.equal(phone.archive.find(live[0] ?? ''), undefined)
})

test('a chat of a LID names the phone number in the chat, in the list of pairs, in a receipt, or nowhere', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const people = (['chat', 'list', 'receipts', 'nowhere'] as const).map((pair, n) => {
    const person = network.person({ phone: `551188888100${n}` })
    phone.keepChat(person, { addressing: 'lid', pair })
    phone.remember(person, { text: 'to you', at: 1_700_000_000 })
    return person.user
  })
  await using client = await HistoryClient.paired(network, phone)
  const [bootstrap] = await client.until('RECENT')
  const sync = await client.read(bootstrap ?? {})
  const found = people.map((user) => {
    const chat = sync.conversations.find((one) => one.id === user.lidJid)
    const receipt = chat?.messages?.[0]?.message?.userReceipt?.[0]
    const isListed = sync.phoneNumberToLidMappings.some((one) => one.lidJid === user.lidJid)
    return { chat: chat?.pnJid === user.pnJid, list: isListed, receipt: receipt?.userJid === user.pnJid }
  })
  assert.deepEqual(found, [
    { chat: true, list: true, receipt: true },
    { chat: false, list: true, receipt: false },
    { chat: false, list: false, receipt: true },
    { chat: false, list: false, receipt: false },
  ])
})

test('a filled archive reaches the companion whole, and its description is right', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  phone.history.habits.carrying = 'phone'
  const filled = fillArchive(network, phone, { chats: 60, messages: 6_000 })
  assert.equal(filled.messages, 6_000)
  await using client = await HistoryClient.paired(network, phone, { syncFullHistory: true })
  const infos = new Map<string, proto.IWebMessageInfo>()
  for (const notice of await client.until('FULL')) {
    const { conversations } = await client.read(notice)
    for (const { id, messages } of conversations) {
      for (const { message } of messages ?? []) if (message) infos.set(`${id} ${message.key?.id ?? ''}`, message)
    }
  }
  assert.equal(infos.size, 6_000)
  for (const { jid, items } of filled.chats) {
    for (const item of items) {
      const info = infos.get(`${jid} ${item.id}`)
      assert.equal(Number(info?.messageTimestamp), item.at)
      assert.equal(info?.key?.fromMe ?? false, item.isOwn)
      assert.equal(info?.reactions?.length ?? 0, item.reactions)
      assert.equal(info?.messageStubType === StubType.REVOKE, item.kind === 'revoked')
      const content = info?.message?.editedMessage?.message?.protocolMessage?.editedMessage ?? info?.message ?? {}
      assert.equal(textOfMessage(content) ?? '', item.text)
      assert.equal(carriedMedia(content) !== undefined, ['image', 'document', 'voice'].includes(item.kind))
    }
  }
})

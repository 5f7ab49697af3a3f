// Checks the history that a phone sends: after pairing, in pieces and files, and on demand.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proto, type WAMessage } from 'baileys'
import type { HistoryKind } from '../../sim/network/accounts/history.ts'
import type { SimPhone } from '../../sim/network/accounts/sim-phone.ts'
import type { SimPerson } from '../../sim/network/people/sim-person.ts'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { ANA, BOB } from './harness/cast.ts'
import { HistoryClient, type Notice } from './harness/history-client.ts'
import { Stage } from './harness/stage.ts'
import { textOf } from './harness/test-client.ts'

const DAY_S = 86_400
const { HistorySyncType } = proto.Message
const nameOf = ({ syncType }: Notice): string | undefined => HistorySyncType[syncType ?? 0]
const textsIn = (sync: proto.HistorySync): (string | undefined)[] =>
  sync.conversations.flatMap((chat) => (chat.messages ?? []).map((one) => textOf(one.message as WAMessage)))

/** Remembers messages of the last days, one per hour, the newest an hour ago. */
function rememberHourly(network: SimNetwork, phone: SimPhone, bob: SimPerson, count: number): string[] {
  const now = Math.floor(network.clock.now() / 1000)
  return Array.from({ length: count }, (_, n) =>
    phone.remember(bob, { text: `message ${n}`, from: bob.user, at: now - (count - n) * 3_600 }),
  )
}

test('a companion that did not ask for the full history gets the recent messages of a chat only', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  rememberHourly(network, phone, network.person(BOB), 80)
  await using client = await HistoryClient.paired(network, phone)
  const notices = await client.until('RECENT')
  assert.deepEqual(notices.map(nameOf), ['INITIAL_BOOTSTRAP', 'PUSH_NAME', 'RECENT'])
  const recent = await client.read(notices[2] ?? {})
  assert.equal(textsIn(recent).length, 50)
  assert.equal(textsIn(recent)[0], 'message 79')
  assert.equal(phone.companion.historyWish.isFull, false)
})

test('a companion that asked for the full history gets every message, newest first, in pieces', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  phone.history.habits.chunkMessages = 40
  rememberHourly(network, phone, network.person(BOB), 130)
  await using client = await HistoryClient.paired(network, phone, { syncFullHistory: true })
  const notices = await client.until('FULL')
  const progress = notices.map((one) => `${nameOf(one) ?? ''} ${one.chunkOrder ?? 0} ${one.progress ?? 0}`)
  assert.deepEqual(progress, [
    'INITIAL_BOOTSTRAP 0 50',
    'PUSH_NAME 1 100',
    'RECENT 1 50',
    'RECENT 2 100',
    'FULL 1 50',
    'FULL 2 100',
  ])
  const pieces = await Promise.all(notices.slice(2).map((one) => client.read(one)))
  const expected = Array.from({ length: 130 }, (_, n) => `message ${129 - n}`)
  assert.deepEqual(pieces.flatMap(textsIn), expected)
})

test('the full history reaches back as many days as the companion asked for', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  phone.history.habits.bootstrapPerChat = 1
  phone.history.habits.recentPerChat = 1
  rememberHourly(network, phone, network.person(BOB), 100)
  const wish = { isFull: true, days: 2, recentDays: undefined, readsInline: true }
  const kept = [...phone.history.forCompanion(wish)].at(-1)?.protocolMessage?.historySyncNotification
  const now = Math.floor(network.clock.now() / 1000)
  assert.equal(Number(kept?.oldestMsgInChunkTimestampSec), now - 2 * DAY_S)
})

test('large pieces are files on the media host, which the library decrypts', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  phone.history.habits.carrying = 'phone'
  rememberHourly(network, phone, network.person(BOB), 60)
  await using client = await HistoryClient.paired(network, phone, { syncFullHistory: true })
  const notices = await client.until('FULL')
  const files = notices.filter((one) => one.directPath).map(nameOf)
  assert.deepEqual(files, ['RECENT', 'FULL'])
  const [recent] = notices.filter((one) => nameOf(one) === 'RECENT')
  assert.equal(textsIn(await client.read(recent ?? {})).length, 50)
})

test('a file of the history can be missing', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  Object.assign(phone.history.habits, { carrying: 'file', fileTrouble: 'missing' })
  await using client = await HistoryClient.paired(network, phone)
  const [bootstrap] = await client.until('RECENT')
  await assert.rejects(client.read(bootstrap ?? {}))
})

test('a piece of history that is made when it is fetched does not stay in memory', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  phone.history.habits.carrying = 'file'
  await using client = await HistoryClient.paired(network, phone)
  await client.until('RECENT')
  let made = 0
  const conversations = () => {
    made += 1
    return [{ id: '5511888880001@s.whatsapp.net', messages: [{ message: { message: { conversation: 'made' } } }] }]
  }
  const kind: HistoryKind = 'full'
  phone.sendHistory({ kind, conversations, chunkOrder: 7, progress: 100 })
  const notices = await client.until('FULL')
  assert.equal(made, 1)
  assert.deepEqual(textsIn(await client.read(notices.at(-1) ?? {})), ['made'])
  assert.equal(made, 2)
})

test('the phone sends at most 50 messages for one request, and says when nothing older remains', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account(ANA)
  const bob = network.person(BOB)
  const ids = rememberHourly(network, phone, bob, 60)
  await using client = await HistoryClient.paired(network, phone)
  const ask = async (anchor: string) => {
    const key = { remoteJid: bob.user.pnJid, fromMe: false, id: anchor }
    const requestId = await client.client.socket.fetchMessageHistory(200, key, 0)
    const isAnswer = (one: Notice): boolean => one.peerDataRequestSessionId === requestId
    const sync = await client.read(await client.notices.waitFor('the answer', isAnswer))
    return { texts: textsIn(sync), end: sync.conversations[0]?.endOfHistoryTransferType }
  }
  const End = proto.Conversation.EndOfHistoryTransferType
  const first = await ask(ids[59] ?? '')
  assert.equal(first.texts.length, 50)
  assert.equal(first.end, End.COMPLETE_ON_DEMAND_SYNC_BUT_MORE_MSG_REMAIN_ON_PRIMARY)
  const rest = await ask(ids[9] ?? '')
  assert.equal(rest.texts.at(-1), 'message 0')
  assert.equal(rest.end, End.COMPLETE_AND_NO_MORE_MESSAGE_REMAIN_ON_PRIMARY)
  assert.deepEqual((await ask(ids[0] ?? '')).texts, [])
})

test('the phone does not answer a request with an unknown anchor or under the other address of the person', async () => {
  await using stage = await Stage.open()
  const { network, phone, bob, client } = stage
  const [oldest = '', next = ''] = rememberHourly(network, phone, bob, 2)
  const ask = (remoteJid: string, id: string) =>
    client.socket.fetchMessageHistory(5, { remoteJid, fromMe: false, id }, 0)
  await ask(bob.user.pnJid, 'made-up')
  await ask(bob.user.lidJid, next)
  const requestId = await ask(bob.user.pnJid, next)
  const answer = await client.event('messaging-history.set', 'the answer')
  assert.equal(answer.peerDataRequestSessionId, requestId)
  assert.deepEqual(
    answer.messages.map((one) => one.key.id),
    [oldest],
  )
})

test('a phone that is offline answers when it is back', async () => {
  await using stage = await Stage.open()
  const { network, phone, bob, client } = stage
  const [, next = ''] = rememberHourly(network, phone, bob, 2)
  phone.isOffline = true
  const key = { remoteJid: bob.user.pnJid, fromMe: false, id: next }
  const requestId = await client.socket.fetchMessageHistory(5, key, 0)
  await network.waitForStanza('message', (one) => one.direction === 'in' && one.attrs.id === requestId)
  bob.text(phone, 'live')
  await client.textMessage('live')
  assert.ok(!client.events.entries.some((one) => one.name === 'messaging-history.set'))
  phone.isOffline = false
  const answer = await client.event('messaging-history.set', 'the answer')
  assert.equal(answer.messages.length, 1)
})

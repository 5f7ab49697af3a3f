// Checks account data with the real client: the address book, its later changes, and history at pairing and on demand.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proto } from 'baileys'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { memoryAuth } from './harness/memory-auth.ts'
import { Stage } from './harness/stage.ts'
import { TestClient, textOf } from './harness/test-client.ts'

/** The client checks the sums and signatures of app state only with this option. */
const CHECKED = { appStateMacVerification: { patch: true, snapshot: true } }

test('a newly paired client gets saved names, the own name and the recent history', async () => {
  await using network = await SimNetwork.start()
  const phone = network.account({ phone: '5511999990001', name: 'Ana' })
  const bob = network.person({ phone: '5511888880001', pushName: 'Bob' })
  const group = network.group('Team', bob, [phone])
  phone.saveContact(bob, 'Bob Builder')
  phone.archive.add(bob.user, { text: 'long ago', from: bob.user, at: 1_700_000_000 })
  phone.archive.add(bob.user, { text: 'answered', at: 1_700_000_100 })
  phone.archive.add(group, { text: 'in the team', from: bob.user, at: 1_700_000_200 })
  const auth = memoryAuth()
  {
    await using client = new TestClient(network, auth)
    await phone.scan(await client.qr())
    await client.closedWith()
  }
  await using client = new TestClient(network, auth, CHECKED)
  const history = await client.event('messaging-history.set', 'the history', (one) => one.messages.length > 0)
  const texts = history.messages.map((one) => `${one.key.fromMe ? 'me' : 'them'}: ${textOf(one) ?? ''}`)
  assert.deepEqual(texts.sort(), ['me: answered', 'them: in the team', 'them: long ago'])
  assert.ok(history.chats.some((one) => one.id === group.jid && one.name === 'Team'))
  // While the client buffers history it merges the contact into the history. Later it emits the contact separately.
  const contacts = await client.events.waitFor('the saved name', ({ name, data }) => {
    const all = name === 'contacts.upsert' ? data : name === 'messaging-history.set' ? data.contacts : []
    return all.some((one) => one.name === 'Bob Builder' && one.lid === bob.user.lidJid)
  })
  assert.ok(contacts)
  await client.event(
    'messaging-history.status',
    'complete',
    (one) => one.status === 'complete' && one.syncType === proto.HistorySync.HistorySyncType.RECENT,
  )
  assert.equal(auth.creds.me?.name, 'Ana')
  assert.equal(auth.creds.accountSyncCounter, 1)
  bob.text(phone, 'live')
  await client.textMessage('live')
})

test('a name that is saved, changed or removed later reaches the client', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  for (const name of ['Bobby', 'Robert']) {
    phone.saveContact(bob, name)
    await client.event('contacts.upsert', name, (all) => all.some((one) => one.name === name))
  }
  const position = client.events.length
  phone.saveContact(bob, undefined)
  const gone = await client.eventAfter(position, 'contacts.upsert', 'the removal')
  assert.deepEqual(
    gone.map(({ id, name }) => [id, name]),
    [[bob.user.pnJid, undefined]],
  )
})

test("the phone understands the client's changes to app state", async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  phone.saveContact(bob, 'Bob')
  await client.event('contacts.upsert', 'the saved name', (all) => all.some((one) => one.name === 'Bob'))
  await client.socket.chatModify({ mute: 1_900_000_000_000 }, bob.user.pnJid)
  const change = await phone.appState.changes.waitFor('the mute', (one) => one.index[0] === 'mute')
  assert.equal(change.action.muteAction?.muted, true)
  await client.socket.addOrEditContact(bob.user.pnJid, { fullName: 'Bob by client' })
  const saved = await phone.appState.changes.waitFor('the contact', (one) => one.index[0] === 'contact')
  assert.equal(saved.action.contactAction?.fullName, 'Bob by client')
  phone.saveContact(bob, 'Bob by phone')
  await client.event('contacts.upsert', 'the later name', (all) => all.some((one) => one.name === 'Bob by phone'))
})

test('the phone sends older history on demand, starting at the message that the client names', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  const ids = Array.from({ length: 10 }, (_, n) =>
    phone.archive.add(bob.user, { text: `old ${n}`, from: bob.user, at: 1_700_000_000 + n }),
  )
  const key = { remoteJid: bob.user.pnJid, fromMe: false, id: ids[6] ?? '' }
  const requestId = await client.socket.fetchMessageHistory(4, key, 1_700_000_006)
  const history = await client.event('messaging-history.set', 'the older messages', (one) => one.messages.length > 0)
  assert.equal(history.peerDataRequestSessionId, requestId)
  assert.deepEqual(history.messages.map(textOf), ['old 5', 'old 4', 'old 3', 'old 2'])
})

test('the phone sends a message for which the client only got a placeholder', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  const id = phone.archive.add(bob.user, { text: 'the real text', from: bob.user, at: 1_700_000_000 })
  await client.socket.requestPlaceholderResend({ remoteJid: bob.user.pnJid, fromMe: false, id })
  await client.textMessage('the real text')
})

test("the client reads the labels of the phone, and the phone understands the client's labels", async () => {
  await using network = await SimNetwork.start({ isBusiness: true })
  const phone = network.account({ phone: '5511999990001', name: 'Ana' })
  const bob = network.person({ phone: '5511888880001', pushName: 'Bob' })
  const vip = phone.labels.create('VIP')
  phone.labels.mark(vip, bob.user.pnJid)
  const auth = memoryAuth()
  {
    await using client = new TestClient(network, auth)
    await phone.scan(await client.qr())
    await client.closedWith()
  }
  assert.equal(auth.creds.platform, 'smba')
  await using client = new TestClient(network, auth, CHECKED)
  await client.event('labels.edit', 'the label', (one) => one.name === 'VIP')
  await client.event('labels.association', 'the labelled chat', (one) => one.type === 'add')
  await client.socket.addLabel('', { id: '2', name: 'Paid', color: 1 })
  await client.socket.addChatLabel(bob.user.pnJid, '2')
  await client.socket.removeChatLabel(bob.user.pnJid, vip)
  assert.deepEqual(phone.labels.of(bob.user.pnJid), ['Paid'])
  phone.labels.rename('2', 'Paid in full')
  await client.event('labels.edit', 'the new name', (one) => one.name === 'Paid in full')
  phone.labels.delete('2')
  await client.event('labels.edit', 'the deletion', (one) => one.deleted)
  assert.deepEqual(phone.labels.all, [{ id: vip, name: 'VIP' }])
})

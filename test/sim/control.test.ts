// Checks the stand-alone simulator with the real client, over the control API only.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { downloadMediaMessage } from 'baileys'
import { toBuffer } from 'qrcode'
import { readQr } from '../../sim/control/read-qr.ts'
import { memoryAuth, type MemoryAuth } from './harness/memory-auth.ts'
import { QR_PICTURE, QR_TEXT } from './harness/qr-picture.ts'
import { SimProcess, type Json } from './harness/sim-process.ts'
import { TestClient } from './harness/test-client.ts'

async function linkedClient(sim: SimProcess, phone: string, more: object = {}): Promise<TestClient> {
  const { credentials } = await sim.post('/accounts', { phone, name: 'Ana', linked: true, ...more })
  return TestClient.online(sim.network, memoryAuth(credentials as Parameters<typeof memoryAuth>[0]))
}

test('the stand-alone simulator pairs the client by QR text, by QR picture and by code, shows it and unlinks it', async () => {
  await using sim = await SimProcess.start()
  for (const [phone, how] of [
    ['5511999990001', 'scan'],
    ['5511999990002', 'link'],
    ['5511999990003', 'picture'],
  ] as const) {
    await sim.post('/accounts', { phone, name: 'Ana' })
    const auth: MemoryAuth = memoryAuth()
    {
      await using client = new TestClient(sim.network, auth)
      const qr = await client.qr()
      if (how === 'scan') await sim.post(`/accounts/${phone}/scan`, { qr })
      else if (how === 'picture') {
        const png = await toBuffer(qr, { errorCorrectionLevel: 'L' })
        await sim.post(`/accounts/${phone}/scan`, { png_base64: png.toString('base64') })
      } else await sim.post(`/accounts/${phone}/link`, { code: await client.socket.requestPairingCode(phone) })
      assert.equal(await client.closedWith(), 515)
    }
    await using client = await TestClient.online(sim.network, auth)
    const { json } = await sim.call('GET', `/accounts/${phone}`)
    assert.equal(json.connected, true)
    await sim.post(`/accounts/${phone}/unlink`)
    assert.equal(await client.closedWith(), 401)
  }
})

test('people write, react, edit, call and read over the control API', async () => {
  await using sim = await SimProcess.start()
  await using client = await linkedClient(sim, '5511999990001')
  const bob = '/people/5511888880001'
  await sim.post('/people', { phone: '5511888880001', push_name: 'Bob', saved_as: 'Bobby' })
  await client.event('contacts.upsert', 'the saved name', (all) => all.some((one) => one.name === 'Bobby'))
  const { id } = await sim.post(`${bob}/send`, { to: '5511999990001', kind: 'text', text: 'hello' })
  assert.equal((await client.textMessage('hello')).key.id, id)
  await sim.post(`${bob}/edit`, { message_id: id, text: 'hello!' })
  await client.event('messages.update', 'the edit', (all) => all.some((one) => one.key.id === id))
  const media = { base64: Buffer.from('a picture').toString('base64') }
  await sim.post(`${bob}/send`, { to: '5511999990001', kind: 'image', media, text: 'look', quote: id })
  const image = await client.message('the image', (one) => Boolean(one.message?.imageMessage))
  assert.equal((await downloadMediaMessage(image, 'buffer', {})).toString(), 'a picture')
  assert.equal(image.message?.imageMessage?.contextInfo?.stanzaId, id)
  await client.socket.presenceSubscribe('5511888880001@s.whatsapp.net')
  const sent = await client.socket.sendMessage('5511888880001@s.whatsapp.net', { text: 'good morning' })
  const { json } = await sim.call('GET', `${bob}/messages?after=0&wait_ms=5000`)
  const [message] = json.messages as Json[]
  assert.deepEqual([message?.id, message?.text, message?.from], [sent?.key.id, 'good morning', '5511999990001'])
  await sim.post(`${bob}/react`, { message_id: sent?.key.id, emoji: '👍' })
  await client.event('messages.reaction', 'the thumb')
  await sim.post(`${bob}/receipt`, { message_id: sent?.key.id, type: 'read' })
  await client.event('messages.update', 'read', (all) => all.some((one) => one.key.id === sent?.key.id))
  await sim.post(`${bob}/typing`, { to: '5511999990001' })
  await client.event('presence.update', 'typing')
  const album = { albumMessage: { expectedImageCount: 2 } }
  await sim.post(`${bob}/send`, { to: '5511999990001', kind: 'raw', message: album })
  await client.message('the album', (one) => one.message?.albumMessage?.expectedImageCount === 2)
  await sim.post('/accounts/5511999990001/contacts', { person: '5511888880001', name: 'Robert' })
  await client.event('contacts.upsert', 'the new name', (all) => all.some((one) => one.name === 'Robert'))
  await sim.post(`${bob}/call`, { to: '5511999990001', video: true })
  await client.event('call', 'the call', (calls) => calls.some((one) => one.isVideo === true))
  await sim.post(`${bob}/hide-phone`)
  await sim.post(`${bob}/send`, { to: '5511999990001', text: 'hidden', addressing: 'lid' })
  assert.equal((await client.textMessage('hidden')).key.remoteJidAlt, undefined)
  await sim.post(`${bob}/revoke`, { message_id: id })
  await client.event('messages.update', 'the revoke', (all) => all.some((one) => one.update.message === null))
  await sim.post('/accounts/5511999990001/send', { to: '5511888880001', text: 'by hand' })
  assert.equal((await client.textMessage('by hand')).key.fromMe, true)
  const read = await sim.post('/accounts/5511999990001/read', { chat: '5511888880001' })
  assert.equal((read.ids as string[]).length, 4)
})

test('groups are created and changed over the control API', async () => {
  await using sim = await SimProcess.start()
  await using client = await linkedClient(sim, '5511999990001')
  await sim.post('/people', { phone: '5511888880001', push_name: 'Bob' })
  await sim.post('/people', { phone: '5511888880002', push_name: 'Eve' })
  const created = await sim.post('/groups', {
    subject: 'Team',
    creator: '5511888880001',
    participants: ['5511999990001', '5511888880002'],
  })
  const path = `/groups/${String(created.jid)}`
  await client.event('groups.upsert', 'the group', (all) => all.some((one) => one.subject === 'Team'))
  await sim.post(`${path}/subject`, { subject: 'Crew' })
  await sim.post(`${path}/description`, { description: 'We sail' })
  await sim.post(`${path}/locked`, { locked: true })
  await sim.post(`${path}/announce`, { announce: true })
  await sim.post(`${path}/participants`, { action: 'promote', participants: ['5511888880002'] })
  await client.event('group-participants.update', 'the promotion', (one) => one.action === 'promote')
  const refused = await sim.call('POST', `${path}/subject`, { subject: 'Mine', by: '5511999990001' })
  assert.equal(refused.status, 401)
  await sim.post(`${path}/approval`, { on: true })
  await sim.post('/people', { phone: '5511888880003' })
  const joined = await sim.post(`${path}/join`, { who: '5511888880003' })
  assert.deepEqual(joined.requests, ['5511888880003'])
  await sim.post(`${path}/leave`, { who: '5511888880002' })
  const { json } = await sim.call('GET', path)
  assert.deepEqual([json.subject, json.description, json.locked, json.announce], ['Crew', 'We sail', true, true])
  assert.equal((json.participants as Json[]).length, 2)
})

test('faults are added over the control API, which also shows unacknowledged messages and stanzas', async () => {
  await using sim = await SimProcess.start()
  await using client = await linkedClient(sim, '5511999990001')
  await sim.post('/people', { phone: '5511888880001' })
  await sim.post('/faults', { kind: 'ack_error', account: '5511999990001', code: 463 })
  const refused = await client.socket.sendMessage('5511888880001@s.whatsapp.net', { text: 'no' })
  assert.equal(await client.acknowledged(refused?.key.id), '463')
  await sim.post('/faults', { kind: 'delay', ms: 20 })
  await sim.call('DELETE', '/faults')
  await sim.post('/faults', { kind: 'stream_error', reason: 'replaced' })
  assert.equal(await client.closedWith(), 440)
  const { id } = await sim.post('/people/5511888880001/send', { to: '5511999990001', text: 'later' })
  const account = (await sim.call('GET', '/accounts/5511999990001')).json
  assert.deepEqual((account.devices as Json[])[0]?.unacknowledged, [id])
  const { json } = await sim.call('GET', '/stanzas?account=5511999990001&tag=message')
  assert.ok((json.stanzas as Json[]).some((one) => one.direction === 'in'))
  assert.deepEqual(json.problems, [])
  assert.equal((await sim.call('GET', '/nothing')).status, 404)
  assert.equal((await sim.call('POST', '/people', { phone: 5 })).status, 400)
})

test('an account migrates over the control API, and hints come with an acknowledgement', async () => {
  await using sim = await SimProcess.start()
  await using client = await linkedClient(sim, '5511999990001', { migrated: false })
  await sim.post('/people', { phone: '5511888880001', lid: '200000000000001' })
  const send = async (to: string) => {
    const sent = await client.socket.sendMessage(to, { text: 'hi' })
    return client.acknowledged(sent?.key.id)
  }
  assert.equal(await send('200000000000001@lid'), '400')
  await sim.post('/accounts/5511999990001/migrate', {})
  await sim.post('/faults', { kind: 'ack_hint', refresh_lid: true, addressing_mode: 'lid' })
  assert.equal(await send('200000000000001@lid'), undefined)
  const { refresh_lid, addressing_mode } = client.acks.entries.at(-1) as unknown as Record<string, string>
  assert.deepEqual([refresh_lid, addressing_mode], ['true', 'lid'])
})

test('a phone is filled with old chats over the control API, goes offline, and answers when it is back', async () => {
  await using sim = await SimProcess.start()
  const phone = '5511999990001'
  await using client = await linkedClient(sim, phone)
  const filled = await sim.post(`/accounts/${phone}/archive`, { chats: 3, messages: 36, days: 2 })
  assert.equal(filled.messages, 36)
  assert.equal((filled.chats as Json[]).length, 3)
  await sim.post('/people', { phone: '5511888880001', push_name: 'Bob' })
  const remember = async (text: string, at: number, more: object = {}) =>
    String((await sim.post(`/accounts/${phone}/history`, { chat: '5511888880001', text, at, ...more })).id)
  const first = await remember('helo', 1_700_000_000, { edited: 'hello' })
  const second = await remember('yes', 1_700_000_100, { from: '5511888880001', quote: first })
  await sim.post(`/accounts/${phone}/offline`)
  const key = { remoteJid: '5511888880001@s.whatsapp.net', fromMe: false, id: second }
  const requestId = await client.socket.fetchMessageHistory(5, key, 0)
  await client.acknowledged(requestId)
  assert.ok(!client.events.entries.some((one) => one.name === 'messaging-history.set'))
  await sim.post(`/accounts/${phone}/offline`, { offline: false })
  const answer = await client.event('messaging-history.set', 'the answer')
  assert.deepEqual(
    answer.messages.map((one) => one.key.id),
    [first],
  )
  await sim.post(`/accounts/${phone}/history-sending`, { carrying: 'file', file_trouble: 'missing' })
})

test('readQr reads a QR code from a picture', () => {
  assert.equal(readQr(Buffer.from(QR_PICTURE, 'base64')), QR_TEXT)
})

// Checks how the unmodified client sees disappearing messages.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proto, type AuthenticationCreds } from 'baileys'
import { contextOf } from '../../sim/network/people/chat-timers.ts'
import { unwrap } from '../../sim/network/people/received-message.ts'
import { memoryAuth } from './harness/memory-auth.ts'
import { SimProcess } from './harness/sim-process.ts'
import { Stage } from './harness/stage.ts'
import { TestClient } from './harness/test-client.ts'

const week = 604_800
const { Initiator } = proto.DisappearingMode

function timerIn(message: proto.IMessage | null | undefined): number | null | undefined {
  return contextOf(unwrap(message ?? {}))?.expiration
}

function hasDefault({ accountSettings }: Partial<AuthenticationCreds>): boolean {
  return accountSettings?.defaultDisappearingMode?.ephemeralExpiration === week
}

test('after a setting, the messages of both phones carry the timer, and an older setting does not undo it', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  const set = bob.setTimer(phone, week)
  const setting = await client.message('the setting', (one) => one.key.id === set.id)
  assert.equal(setting.message?.protocolMessage?.ephemeralExpiration, week)
  phone.setTimer(bob, 60, { timestamp: 1_600_000_000 })
  phone.setTimer(bob, week)
  const text = bob.text(phone, 'soon gone')
  const picture = bob.media(phone, 'image', { bytes: Buffer.from('x') }, { context: { isForwarded: true } })
  const own = phone.text(bob, 'mine too')
  for (const { id } of [text, picture, own]) {
    assert.equal(timerIn((await client.message(id, (one) => one.key.id === id)).message), week)
  }
  const reaction = bob.react(text, '👍')
  assert.equal(timerIn(reaction.message), undefined)
  bob.setTimer(phone, 0)
  const stays = bob.text(phone, 'stays')
  assert.equal(timerIn((await client.message('stays', (one) => one.key.id === stays.id)).message), 0)
})

test('messages in a group carry the timer of the group', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client, network } = stage
  const group = network.group('Team', bob, [phone])
  group.setEphemeral(bob.user, week)
  const sent = bob.poll(group, 'Lunch?', ['Yes', 'No'])
  assert.equal(timerIn((await client.message('the poll', (one) => one.key.id === sent.id)).message), week)
})

test('the client learns the timer for new chats from a notification and by asking', async () => {
  await using stage = await Stage.open()
  const { phone, bob, client } = stage
  phone.setDefaultTimer(week)
  await client.event('creds.update', 'the default', hasDefault)
  const [answer] = (await client.socket.fetchDisappearingDuration(phone.user.pnJid)) ?? []
  assert.equal((answer?.['disappearing_mode'] as { duration: number } | undefined)?.duration, week)
  const first = phone.text(bob, 'hello')
  assert.equal(contextOf(first.message)?.disappearingMode?.initiator, Initiator.INITIATED_BY_ME)
  await bob.messages.waitFor('the first message', ({ id }) => id === first.id)
  const { message } = bob.text(phone, 'hello too')
  assert.equal(contextOf(message)?.disappearingMode?.initiator, Initiator.INITIATED_BY_OTHER)
  assert.equal(timerIn(message), week)
})

test('timers are set and seen over the control API', async () => {
  await using sim = await SimProcess.start()
  const [ana, bob] = ['5511999990001', '5511888880001']
  const { credentials } = await sim.post('/accounts', { phone: ana, name: 'Ana', linked: true })
  await using client = await TestClient.online(sim.network, memoryAuth(credentials as Parameters<typeof memoryAuth>[0]))
  await sim.post('/people', { phone: bob })
  const { id } = await sim.post(`/people/${bob}/timer`, { to: ana, seconds: week })
  await client.message('the setting', (one) => one.key.id === id)
  await sim.post(`/accounts/${ana}/timer`, { to: bob, seconds: 60 })
  await sim.post(`/accounts/${ana}/default-timer`, { seconds: week })
  await client.event('creds.update', 'the default', hasDefault)
  await client.socket.sendMessage(`${bob}@s.whatsapp.net`, { text: 'hi' }, { ephemeralExpiration: 60 })
  const { json } = await sim.call('GET', `/people/${bob}/messages?after=1&wait_ms=5000`)
  assert.equal((json.messages as { expiration: number }[])[0]?.expiration, 60)
  const group = await sim.call('POST', `/people/${bob}/timer`, { to: 'nobody', seconds: 1 })
  assert.equal(group.status, 404)
})

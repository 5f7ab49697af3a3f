// Labels of WhatsApp Business chats and labels of conversations follow each other.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { engines } from '../../harness/databases.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import {
  atHelpdesk,
  bothHave,
  counted,
  labelCounts,
  onPhone,
  opened,
  openLabels,
  setByAgent,
  writesOf,
} from './harness/label-world.ts'

for (const engine of engines) {
  describe(`labels on ${engine}`, () => {
    test('labels are set and removed on the phone', async () => {
      await using world = await openLabels({ engine })
      const conversation = await opened(world)
      const { phone, bob } = world
      const vip = phone.labels.create('VIP')
      const paid = phone.labels.create('Pago!')
      phone.labels.mark(vip, bob.user.pnJid)
      phone.labels.mark(paid, bob.user.lidJid)
      await waitUntil('the conversation has both', () => atHelpdesk(world, conversation).join() === 'pago,vip', {
        instead: () => atHelpdesk(world, conversation),
      })
      phone.labels.mark(vip, bob.user.pnJid, false)
      await waitUntil('one is gone', () => atHelpdesk(world, conversation).join() === 'pago')
      const { body } = await world.agent.get('/labels')
      const titles = (body['payload'] as { title: string }[]).map(({ title }) => title).sort()
      assert.deepEqual(titles, ['pago', 'vip'], 'the account has them, so that agents see them')
    })

    test('labels are set and removed by an agent, and a new one is created on the phone', async () => {
      await using world = await openLabels({ engine })
      const conversation = await opened(world)
      const { phone } = world
      phone.labels.create('VIP')
      await setByAgent(world, conversation, 'vip', 'back-order')
      await bothHave(world, conversation, 'VIP', 'back-order')
      assert.deepEqual(
        phone.labels.all.map(({ name }) => name),
        ['VIP', 'back-order'],
        'a known label keeps its name',
      )
      await setByAgent(world, conversation, 'back-order')
      await bothHave(world, conversation, 'back-order')
      await setByAgent(world, conversation)
      await bothHave(world, conversation)
      assert.equal(phone.labels.all.length, 2, 'the labels themselves stay')
    })

    test('a restart in between loses nothing', async () => {
      await using world = await openLabels({ engine })
      const conversation = await opened(world)
      const { phone, bob } = world
      const vip = phone.labels.create('VIP')
      const hot = phone.labels.create('Hot')
      phone.labels.mark(vip, bob.user.pnJid)
      await bothHave(world, conversation, 'VIP')
      await world.stop()
      phone.labels.mark(hot, bob.user.pnJid)
      await setByAgent(world, conversation)
      await world.restart()
      await bothHave(world, conversation, 'Hot')
    })
  })
}

test('a label that is renamed or deleted on the phone is renamed or removed in the conversation', async () => {
  await using world = await openLabels()
  const conversation = await opened(world)
  const { phone, bob } = world
  const vip = phone.labels.create('VIP')
  phone.labels.mark(vip, bob.user.pnJid)
  await bothHave(world, conversation, 'VIP')
  phone.labels.rename(vip, 'Gold')
  await bothHave(world, conversation, 'Gold')
  phone.labels.delete(vip)
  await bothHave(world, conversation)
})

test('both sides change at the same time', async () => {
  await using world = await openLabels()
  const conversation = await opened(world)
  const { phone, bob } = world
  const [one, two, three] = ['one', 'two', 'three'].map((name) => phone.labels.create(name))
  phone.labels.mark(one ?? '', bob.user.pnJid)
  phone.labels.mark(two ?? '', bob.user.pnJid)
  await bothHave(world, conversation, 'one', 'two')
  phone.labels.mark(one ?? '', bob.user.pnJid, false)
  phone.labels.mark(three ?? '', bob.user.pnJid)
  await setByAgent(world, conversation, 'one', 'four')
  await bothHave(world, conversation, 'three', 'four')
})

test('our own changes come back and change nothing', async () => {
  await using world = await openLabels()
  const conversation = await opened(world)
  const { phone, bob } = world
  const vip = phone.labels.create('VIP')
  const lower = phone.labels.create('vip')
  phone.labels.mark(vip, bob.user.pnJid)
  phone.labels.mark(lower, bob.user.pnJid)
  phone.labels.mark(phone.labels.create('🔥'), bob.user.pnJid)
  await waitUntil('the conversation has all', () => atHelpdesk(world, conversation).join() === 'label-3,vip,vip-2')
  await setByAgent(world, conversation, 'vip', 'vip-2', 'label-3', 'new')
  await waitUntil('the phone has all', () => onPhone(world).length === 4)
  await world.helpdesk.settled()
  const written = writesOf(world)
  const { duplicate: looks = 0 } = await labelCounts(world)
  // Every further look finds both sides in agreement.
  await opened(world, 'again')
  await world.restart()
  await counted(world, 'duplicate')
  await opened(world, 'and again')
  await world.helpdesk.settled()
  assert.deepEqual(writesOf(world), written)
  assert.ok(written.network <= 3, 'a label that is created and set')
  assert.ok(looks < 20, `${looks} looks`)
})

test('changes on the phone and by agents while the account is away arrive after the reconnect', async () => {
  await using world = await openLabels()
  const conversation = await opened(world)
  const { phone, bob } = world
  const vip = phone.labels.create('VIP')
  phone.labels.mark(vip, bob.user.pnJid)
  await bothHave(world, conversation, 'VIP')
  await world.disconnect()
  phone.labels.mark(vip, bob.user.pnJid, false)
  phone.labels.mark(phone.labels.create('Hot'), bob.user.pnJid)
  await setByAgent(world, conversation, 'vip', 'cold')
  await world.helpdesk.settled()
  await world.reconnect()
  await bothHave(world, conversation, 'Hot', 'cold')
})

test('what an agent changed while the service was away is found after the start', async () => {
  await using world = await openLabels()
  const conversation = await opened(world)
  const { phone, bob } = world
  phone.labels.mark(phone.labels.create('VIP'), bob.user.pnJid)
  await bothHave(world, conversation, 'VIP')
  await world.stop()
  await setByAgent(world, conversation, 'cold')
  await world.restart()
  await bothHave(world, conversation, 'cold')
})

test('labels from before the sync was switched on are united', async () => {
  await using world = await openLabels({ environment: { SERVICE_LABELS_SYNC: 'false' } })
  const conversation = await opened(world)
  const { phone, bob } = world
  phone.labels.mark(phone.labels.create('VIP'), bob.user.pnJid)
  await setByAgent(world, conversation, 'old')
  await world.helpdesk.settled()
  assert.deepEqual(atHelpdesk(world, conversation), ['old'])
  assert.deepEqual(onPhone(world), ['VIP'])
  await world.restart({ SERVICE_LABELS_SYNC: 'true' })
  await bothHave(world, conversation, 'VIP', 'old')
})

test('switched off, nothing is read and nothing is written', async () => {
  await using world = await openLabels({ environment: { SERVICE_LABELS_SYNC: 'false' } })
  const conversation = await opened(world)
  const { phone, bob } = world
  const before = writesOf(world)
  phone.labels.mark(phone.labels.create('VIP'), bob.user.pnJid)
  await setByAgent(world, conversation, 'mine')
  await opened(world, 'more')
  await world.helpdesk.settled()
  assert.deepEqual(writesOf(world), { ...before, helpdesk: before.helpdesk + 1 })
  assert.deepEqual(await labelCounts(world), {})
  assert.ok(!world.helpdesk.requests.some(({ method, path }) => method === 'GET' && path.endsWith('/labels')))
})

test('an account without WhatsApp Business is left alone, and the log says so once', async () => {
  await using world = await openLabels({ network: { isBusiness: false } })
  const conversation = await opened(world)
  await counted(world, 'not_business')
  await setByAgent(world, conversation, 'mine')
  await opened(world, 'more')
  await world.helpdesk.settled()
  assert.deepEqual(await labelCounts(world), { not_business: 1 })
  assert.equal(world.phone.appState.changes.length, 0)
})

test('a new conversation gets the labels of the chat', async () => {
  await using world = await openLabels({ environment: { SERVICE_CONVERSATION_MODE: 'new' } })
  const conversation = await opened(world)
  const { phone, bob } = world
  phone.labels.mark(phone.labels.create('VIP'), bob.user.pnJid)
  await bothHave(world, conversation, 'VIP')
  await world.agent.post(`/conversations/${conversation}/toggle_status`, { status: 'resolved' })
  await world.helpdesk.settled()
  const next = await opened(world, 'a new matter')
  assert.notEqual(next, conversation)
  await bothHave(world, next, 'VIP')
  await setByAgent(world, conversation)
  await world.helpdesk.settled()
  assert.deepEqual(onPhone(world), ['VIP'], 'only the current conversation counts')
})

test('a chat that was labelled before its customer wrote has its labels in the first conversation', async () => {
  await using world = await openLabels()
  const { phone, network } = world
  const eve = network.person({ phone: '5511888880002', pushName: 'Eve' })
  phone.labels.mark(phone.labels.create('VIP'), eve.user.pnJid)
  const { conversationId } = await world.arrived(eve.text(phone, 'hi'))
  await waitUntil('the conversation has it', () => atHelpdesk(world, conversationId).join() === 'vip')
})

test('WhatsApp takes 20 labels: a further one of an agent stays at the helpdesk', async () => {
  await using world = await openLabels()
  const conversation = await opened(world)
  const { phone } = world
  for (let n = 1; n <= 20; n++) phone.labels.create(`label ${n}`)
  await setByAgent(world, conversation, 'one-more', 'label-7')
  await counted(world, 'limit')
  await waitUntil('the known label is set', () => onPhone(world).join() === 'label 7')
  await setByAgent(world, conversation, 'one-more')
  await waitUntil('the known label is removed', () => onPhone(world).length === 0)
  assert.deepEqual(atHelpdesk(world, conversation), ['one-more'])
  assert.equal(phone.labels.all.length, 20)
})

test('a label that the token may not create is left alone, and other labels are carried', async () => {
  await using world = await openLabels()
  const conversation = await opened(world)
  const { phone, bob, helpdesk } = world
  const refused = { status: 401, body: { error: 'You are not authorized to do this action' } }
  await helpdesk.fault({ kind: 'answer', ...refused, method: 'POST', path: /\/accounts\/1\/labels$/ })
  phone.labels.mark(phone.labels.create('VIP'), bob.user.pnJid)
  await counted(world, 'not_shown')
  assert.deepEqual(atHelpdesk(world, conversation), [])
  assert.deepEqual(onPhone(world), ['VIP'])
  await setByAgent(world, conversation, 'other')
  await waitUntil('other labels are carried', () => onPhone(world).join() === 'VIP,other')
})

test('the helpdesk fails for a while: the labels come later', async () => {
  await using world = await openLabels()
  const conversation = await opened(world)
  const { phone, bob, helpdesk } = world
  await helpdesk.fault({ kind: 'status', status: 503, method: 'POST', path: /conversations\/\d+\/labels$/, times: 1 })
  phone.labels.mark(phone.labels.create('VIP'), bob.user.pnJid)
  await counted(world, 'ds_error')
  await bothHave(world, conversation, 'VIP')
})

test('a change that WhatsApp refuses because the phone was faster is made again', async () => {
  await using world = await openLabels()
  const conversation = await opened(world)
  const { phone } = world
  phone.labels.create('VIP')
  await setByAgent(world, conversation, 'vip')
  await bothHave(world, conversation, 'VIP')
  phone.appState.conflicts = 1
  await setByAgent(world, conversation)
  await counted(world, 'wa_error')
  await bothHave(world, conversation)
})

test('a label that an agent sets between our read and our write is not lost', async () => {
  await using world = await openLabels()
  const conversation = await opened(world)
  const { phone, bob, helpdesk } = world
  await setByAgent(world, conversation, 'first')
  await bothHave(world, conversation, 'first')
  // Held until the clock of the helpdesk moves.
  await helpdesk.fault({ kind: 'slow', ms: 12_000, method: 'POST', path: /conversations\/\d+\/labels$/, times: 1 })
  phone.labels.mark(phone.labels.create('VIP'), bob.user.pnJid)
  await helpdesk.waitForHeldRequests()
  await setByAgent(world, conversation, 'second')
  // The service is told of it before its own write is made.
  await helpdesk.settled()
  await helpdesk.advance(12_000)
  await bothHave(world, conversation, 'VIP', 'second')
})

test('the chat of a group has labels too', async () => {
  await using world = await openLabels()
  const { phone, bob, network } = world
  const group = network.group('Choir', bob, [phone])
  const { conversationId } = await world.arrived(bob.text(group, 'hello'))
  phone.labels.mark(phone.labels.create('Music'), group.jid)
  await waitUntil('the conversation has it', () => atHelpdesk(world, conversationId).join() === 'music')
  await setByAgent(world, conversationId)
  await waitUntil('the phone has none', () => phone.labels.of(group.jid).length === 0)
})

// Labels in unusual situations: a new link, a helpdesk that is away for long, lists of WhatsApp, many labels at once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proto } from '../../../sim/network/library.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { stallStorage } from '../../harness/stalled-storage.ts'
import { usualEngine } from '../../harness/stranger.ts'
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

const { ListType } = proto.SyncActionValue.LabelEditAction

test('an agent who removes a label that came from the phone and sets it again is followed each time', async () => {
  await using world = await openLabels()
  const conversation = await opened(world)
  const { phone, bob } = world
  phone.labels.mark(phone.labels.create('VIP'), bob.user.pnJid)
  await bothHave(world, conversation, 'VIP')
  await setByAgent(world, conversation)
  await bothHave(world, conversation)
  await setByAgent(world, conversation, 'vip')
  await bothHave(world, conversation, 'VIP')
})

test('a label of an agent does not overwrite a list of the phone, nor a label that chats still have', async () => {
  await using world = await openLabels()
  const conversation = await opened(world)
  const { phone, bob } = world
  phone.labels.create('VIP')
  phone.labels.create('Favorites', { type: ListType.FAVORITES })
  phone.labels.mark('7', bob.user.pnJid)
  await setByAgent(world, conversation, 'back-order')
  await waitUntil('the phone has it', () => onPhone(world).join() === 'back-order', { instead: () => phone.labels.all })
  assert.deepEqual(
    phone.labels.all.map(({ id, name }) => `${id} ${name}`),
    ['1 VIP', '2 Favorites', '8 back-order'],
  )
})

test('a phone that was set up anew without its labels does not take them from the helpdesk', async () => {
  await using world = await openLabels()
  const conversation = await opened(world)
  const { phone, bob } = world
  const vip = phone.labels.create('VIP')
  phone.labels.mark(vip, bob.user.pnJid)
  await bothHave(world, conversation, 'VIP')
  phone.unlink()
  await world.reaches('n0', (state) => state !== 'ready')
  phone.labels.delete(vip)
  phone.labels.mark(phone.labels.create('New'), bob.user.pnJid)
  await world.create({ name: 'n0' })
  await phone.scan(await world.qrText('n0'))
  await world.reaches('n0', 'ready')
  await bothHave(world, conversation, 'VIP', 'New')
})

test('an agent sets ten labels at once, and takes all away again', async () => {
  await using world = await openLabels()
  const conversation = await opened(world)
  const names = ['zwei', 'übergröße', 'важно', 'vip_1', 'a-b', 'top-10', '2026', 'ñandú', 'late', '日本']
  await setByAgent(world, conversation, ...names)
  await bothHave(world, conversation, ...names)
  await setByAgent(world, conversation)
  await bothHave(world, conversation)
  assert.equal(world.phone.labels.all.length, names.length)
  await world.helpdesk.settled()
  assert.equal(writesOf(world).helpdesk, 2, 'only the agent wrote at the helpdesk')
})

test('a label with a name that Chatwoot never gives out is left alone', async () => {
  await using world = await openLabels()
  const conversation = await opened(world)
  await setByAgent(world, conversation, '𝒳', '-', 'x', '🔥', 'fine')
  await waitUntil('the other one is carried', () => onPhone(world).join() === 'fine')
  await opened(world, 'more')
  await setByAgent(world, conversation, '𝒳', '-', 'x', '🔥', 'fine', 'too')
  await waitUntil('so is a second one', () => onPhone(world).join() === 'fine,too')
  assert.equal(world.phone.labels.all.length, 2)
  assert.deepEqual(atHelpdesk(world, conversation), ['-', 'fine', 'too', 'x', '𝒳', '🔥'].sort())
})

test('a flood of changes ends with the last one, in few writes', async () => {
  await using world = await openLabels()
  const conversation = await opened(world)
  const { phone, bob } = world
  const ids = ['one', 'two', 'three'].map((name) => phone.labels.create(name))
  for (let n = 0; n < 100; n++) for (const id of ids) phone.labels.mark(id, bob.user.pnJid, n % 2 === 0)
  phone.labels.mark('2', bob.user.pnJid)
  await bothHave(world, conversation, 'two')
  await world.helpdesk.settled()
  const { helpdesk, network } = writesOf(world)
  assert.ok(helpdesk < 60, `${helpdesk} writes at the helpdesk`)
  assert.equal(network, 0)
})

test('the helpdesk is away for an hour: it is asked seldom, and the labels of both sides come afterwards', async () => {
  const clock = new LeapingClock()
  await using world = await openLabels({ clock, helpdesk: { clock } })
  const conversation = await opened(world)
  const { phone, bob, helpdesk } = world
  const vip = phone.labels.create('VIP')
  phone.labels.mark(vip, bob.user.pnJid)
  await bothHave(world, conversation, 'VIP')
  await helpdesk.fault({ kind: 'status', status: 503, method: 'GET', path: /conversations\/\d+\/labels$/ })
  phone.labels.mark(phone.labels.create('Hot'), bob.user.pnJid)
  await setByAgent(world, conversation, 'cold')
  await counted(world, 'ds_error')
  for (let minute = 0; minute < 60; minute++) await clock.advance(60_000)
  await counted(world, 'ds_error', 5)
  const { ds_error: failed = 0 } = await labelCounts(world)
  assert.ok(failed < 40, `${failed} looks`)
  await helpdesk.clearFaults()
  await clock.advance(11 * 60_000)
  await bothHave(world, conversation, 'Hot', 'cold')
})

const withoutStall = usualEngine === 'postgres' && 'on PostgreSQL only the outbox stalls'

test('the callback of a change is answered when the change is stored', { skip: withoutStall }, async () => {
  await using world = await openLabels()
  const conversation = await opened(world)
  await world.helpdesk.settled()
  let isStalled = true
  const stalled = stallStorage(world.place.location, 1000).then(() => (isStalled = false))
  await setByAgent(world, conversation, 'first')
  await world.helpdesk.settled()
  assert.equal(isStalled, false)
  await stalled
  await bothHave(world, conversation, 'first')
})

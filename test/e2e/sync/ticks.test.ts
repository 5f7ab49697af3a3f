// What customers' phones report of the agents' messages is shown at the helpdesk, and every receipt is counted once.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { attach, textFile } from '../../harness/agent-files.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { countsReceipts, delivered, receiptCounts, statusRequests } from './harness/tick-world.ts'

const withDelivered = { environment: { SERVICE_DELIVERY_STATUS_SYNC: 'true' } }

describe('ticks', { concurrency: 3 }, () => {
  test('a message is shown as delivered, then as read, and never goes back', async () => {
    await using world = await AgentWorld.open(withDelivered)
    const { bob } = world
    const { id, message } = await delivered(world, 'hello')
    await world.shown(id, ({ status }) => status === 'delivered')
    bob.receipt('read', [message])
    await world.shown(id, ({ status }) => status === 'read')
    bob.receipt('delivered', [message])
    bob.receipt('played', [message])
    await countsReceipts(world, { ok: 4 })
    await world.helpdesk.settled()
    assert.equal((await world.shown(id, () => true)).status, 'read')
    assert.equal(statusRequests(world).length, 2)
  })

  test('a delivered message stays sent without the setting, and a played one is shown as read', async () => {
    await using world = await AgentWorld.open()
    const { bob } = world
    const { id, message } = await delivered(world, 'listen')
    await countsReceipts(world, { filtered: 1 })
    assert.equal((await world.shown(id, () => true)).status, 'sent')
    bob.receipt('played', [message])
    await world.shown(id, ({ status }) => status === 'read')
    await countsReceipts(world, { filtered: 1, ok: 1 })
  })

  test('receipts are neither shown nor counted while they are switched off', async () => {
    await using world = await AgentWorld.open({ environment: { SERVICE_READ_RECEIPTS_SYNC: 'false' } })
    const { id, message } = await delivered(world, 'quiet')
    world.bob.receipt('read', [message])
    await waitUntil('the receipts are confirmed', () => world.phone.companion.books.size === 0)
    assert.deepEqual(await receiptCounts(world), {})
    assert.equal((await world.shown(id, () => true)).status, 'sent')
  })

  test('a message of several files is read when its last part is read', async () => {
    await using world = await AgentWorld.open()
    const { bob } = world
    const files = ['a.txt', 'b.txt'].map((name) => textFile(name))
    const id = await attach(world, '', files)
    await waitUntil('both files have arrived', () => bob.messages.length === 2)
    const [first, second] = bob.messages.entries
    assert.ok(first && second)
    bob.receipt('read', [first])
    await countsReceipts(world, { filtered: 2, ok: 1 })
    assert.equal((await world.shown(id, () => true)).status, 'sent')
    bob.receipt('read', [second])
    await world.shown(id, ({ status }) => status === 'read')
    assert.equal(statusRequests(world).length, 1)
  })

  test('in a group the first member decides, and members are known by their LIDs', async () => {
    await using world = await AgentWorld.open(withDelivered)
    const { network, phone, bob } = world
    const carol = network.person({ phone: '5511888880002', lid: '200000000000002' })
    for (const person of [bob, carol]) person.confirmsDelivery = false
    const team = network.group('Team', bob, [phone, carol])
    const { conversationId } = await world.arrived(bob.text(team, 'hello all'))
    const id = await world.write('hello team', {}, conversationId)
    const [toBob, toCarol] = [await world.received('hello team'), await world.received('hello team', carol)]
    carol.receipt('delivered', [toCarol])
    await world.shown(id, ({ status }) => status === 'delivered')
    bob.receipt('read', [toBob])
    await world.shown(id, ({ status }) => status === 'read')
    bob.receipt('delivered', [toBob])
    carol.receipt('read', [toCarol])
    await countsReceipts(world, { ok: 4 })
    assert.equal(statusRequests(world).length, 2)
  })

  test('a receipt from the LID finds the message that went to the phone number, and one receipt names many', async () => {
    await using world = await AgentWorld.open()
    const { bob } = world
    const sent = [await delivered(world, 'one'), await delivered(world, 'two'), await delivered(world, 'three')]
    bob.receipt(
      'read',
      sent.map(({ message }) => message),
      { asList: true, addressing: 'lid' },
    )
    for (const { id } of sent) await world.shown(id, ({ status }) => status === 'read')
    await countsReceipts(world, { filtered: 3, ok: 3 })
  })

  test('what the owner writes on the phone gets its ticks too', async () => {
    await using world = await AgentWorld.open()
    const { bob, phone } = world
    const sent = phone.text(bob, 'from my phone')
    const message = await world.received('from my phone')
    bob.receipt('read', [message])
    await world.arrived(sent, ({ status }) => status === 'read')
  })

  test('a message that another instance of the helpdesk inbox sent gets its ticks', async () => {
    await using world = await AgentWorld.open({ accounts: 2 })
    const { bob, phones } = world
    assert.ok(phones[1])
    const { conversationId } = await world.arrived(bob.text(phones[1], 'to the second number'))
    // The helpdesk calls the first instance.
    const id = await world.write('from the second number', {}, conversationId)
    bob.receipt('read', [await world.received('from the second number')])
    await world.shown(id, ({ status }) => status === 'read')
  })

  test('a failure that the helpdesk shows of a read message becomes read again', async () => {
    await using world = await AgentWorld.open()
    const { id, message } = await delivered(world, 'seen')
    world.bob.receipt('read', [message])
    await world.shown(id, ({ status }) => status === 'read')
    const failed = { status: 'failed', external_error: '500 Internal Server Error' }
    await world.desk.patch(`/conversations/${world.conversation}/messages/${id}`, failed)
    await world.shown(id, ({ status }) => status === 'read')
  })

  test('500 receipts in a burst set each status of a message once at most', async () => {
    await using world = await AgentWorld.open(withDelivered)
    const { bob } = world
    bob.confirmsDelivery = false
    const sent = []
    for (let n = 0; n < 25; n++) sent.push(await delivered(world, `m${n}`))
    const messages = sent.map(({ message }) => message)
    for (let n = 0; n < 20; n++) bob.receipt(n % 2 === 0 ? 'delivered' : 'read', messages)
    for (const { id } of sent) await world.shown(id, ({ status }) => status === 'read')
    await countsReceipts(world, { ok: 500 })
    const requests = Map.groupBy(statusRequests(world), (path) => path)
    assert.equal(requests.size, 25)
    for (const [path, all] of requests) assert.ok(all.length <= 2, `${path} was set ${all.length} times`)
    await waitUntil('the receipts are confirmed', () => world.phone.companion.books.size === 0)
  })
})

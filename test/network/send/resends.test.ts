// A device that could not open a message gets it again: only this device, with its own count.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textOfMessage } from '../../../sim/network/people/received-message.ts'
import { child, children } from '../../../sim/network/wire/stanza.ts'
import { Bed } from '../harness/bed.ts'
import { plain } from '../harness/contents.ts'

async function stage() {
  const bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001', devices: 2 })
  const eve = bed.sim.person({ phone: '5511888880002' })
  const group = bed.sim.group('Team', bob, [phone, eve])
  const { session } = await bed.online('s')
  /** The stanzas of a message after the first one. */
  const again = (id: string) =>
    bed.sim.log
      .find({ tag: 'message' })
      .filter((one) => one.direction === 'in' && one.attrs['id'] === id)
      .slice(1)
  const close = () => bed[Symbol.asyncDispose]()
  return { bed, phone, bob, eve, group, session, again, [Symbol.asyncDispose]: close }
}

/** The devices that got the key with this message. */
function given(bed: Bed, id: string): string[] {
  const [sent] = bed.sim.log.find({ tag: 'message' }).filter(({ attrs }) => attrs['id'] === id)
  return children(child(sent?.node, 'participants'), 'to').flatMap(({ attrs }) => attrs['jid'] ?? [])
}

test("a person's phone that asks gets the message again, and the other devices do not", async () => {
  await using set = await stage()
  const { phone, bob, session, again } = set
  const chat = bob.user.pnJid
  await session.send(chat, plain('one'), '3EB0000000000001')
  await bob.messages.waitFor('the first message', () => true)
  bob.device.forgetEverything()
  await session.send(chat, plain('two'), '3EB0000000000002')
  const received = await bob.messages.waitFor('the second message', (one) => one.id === '3EB0000000000002')
  assert.equal(textOfMessage(received.message), 'two')
  assert.equal(child(received.stanza, 'enc')?.attrs['count'], '1')
  assert.deepEqual(
    again('3EB0000000000002').map(({ attrs }) => [attrs['to'], attrs['device_fanout']]),
    [[chat, 'false']],
  )
  assert.equal(child(again('3EB0000000000002')[0]?.node, 'participants'), undefined)
  assert.equal(bob.duplicates + phone.duplicates, 0)
})

test('a second request of the device gets its own count', async () => {
  await using set = await stage()
  const { bob, session, again } = set
  await session.send(bob.user.pnJid, plain('one'), '3EB0000000000001')
  await bob.messages.waitFor('the first message', () => true)
  bob.device.forgetEverything()
  await session.send(bob.user.pnJid, plain('two'), '3EB0000000000002')
  await bob.undecryptable.waitFor('the first failure', () => true)
  bob.device.forgetEverything()
  const received = await bob.messages.waitFor('the second message', (one) => one.id === '3EB0000000000002')
  assert.equal(child(received.stanza, 'enc')?.attrs['count'], '2')
  assert.equal(again('3EB0000000000002').length, 2)
})

test("the account's own phone that asks gets the message again, with the chat it belongs to", async () => {
  await using set = await stage()
  const { phone, bob, session, again } = set
  await session.send(bob.user.pnJid, plain('one'), '3EB0000000000001')
  await phone.messages.waitFor('the first copy', () => true)
  phone.device.forgetEverything()
  await session.send(bob.user.pnJid, plain('two'), '3EB0000000000002')
  const received = await phone.messages.waitFor('the second copy', (one) => one.id === '3EB0000000000002')
  assert.equal(received.chat, bob.user.pnJid)
  assert.equal(textOfMessage(received.message), 'two')
  assert.equal(again('3EB0000000000002').length, 1)
  assert.equal(bob.duplicates, 0)
})

test('a member that asks gets the message and the key, and the others get neither again', async () => {
  await using set = await stage()
  const { bed, bob, eve, group, session, again } = set
  await session.send(group.jid, plain('one'), '3EB0000000000001')
  await eve.messages.waitFor('the first message', () => true)
  eve.device.forgetEverything()
  await session.send(group.jid, plain('two'), '3EB0000000000002')
  const received = await eve.messages.waitFor('the second message', (one) => one.id === '3EB0000000000002')
  assert.equal(child(received.stanza, 'enc')?.attrs['count'], '1')
  assert.deepEqual(
    again('3EB0000000000002').map(({ attrs }) => attrs['addressing_mode']),
    ['lid'],
  )
  await session.send(group.jid, plain('three'), '3EB0000000000003')
  const [third] = bed.sim.log.find({ tag: 'message' }).filter(({ attrs }) => attrs['id'] === '3EB0000000000003')
  const given = child(third?.node, 'participants')?.content
  assert.equal(Array.isArray(given) ? given.length : 0, 1, 'only Eve gets the key with the next message')
  assert.equal(bob.duplicates, 0)
})

test('a new device, of which no notice came, asks and gets the key, and the others do not get a new one', async () => {
  await using set = await stage()
  const { bed, bob, group, session, again } = set
  await session.send(group.jid, plain('one'), '3EB0000000000001')
  const laptop = bob.addDevice({ isTold: false })
  const { devices } = bob.user
  group.listeners.add(laptop)
  // The server lists the device after the message, so its acknowledgement does not betray the device.
  devices.delete(laptop.id)
  const id = '3EB0000000000002'
  const listed = bob.undecryptable.waitFor('the failure', () => true).then(() => devices.set(laptop.id, laptop))
  await session.send(group.jid, plain('two'), id)
  await listed
  group.listeners.delete(laptop)
  await bob.opened.waitFor('the message on the laptop', (one) => one.id === id && one.device === laptop.id)
  assert.equal(again(id)[0]?.attrs['participant'], bob.user.jid('lid', laptop.id))
  await session.send(group.jid, plain('three'), '3EB0000000000003')
  assert.deepEqual(given(bed, '3EB0000000000003'), [bob.user.jid('lid', laptop.id)])
  await session.send(group.jid, plain('four'), '3EB0000000000004')
  assert.deepEqual(given(bed, '3EB0000000000004'), [])
})

test('a device that the server does not list gets the message without the key, and the key stays', async () => {
  await using set = await stage()
  const { bed, bob, group, session } = set
  await session.send(group.jid, plain('one'), '3EB0000000000001')
  const laptop = bob.addDevice({ isTold: false })
  const { devices } = bob.user
  bed.sim.router.override('usync get usync', () => {
    devices.delete(laptop.id)
    queueMicrotask(() => devices.set(laptop.id, laptop))
    return null
  })
  for (const n of [2, 3, 4]) {
    const id = `3EB000000000000${n}`
    await session.send(group.jid, plain('more'), id)
    await bob.opened.waitFor('the message on the laptop', (one) => one.id === id && one.device === laptop.id)
    assert.deepEqual(given(bed, id), [])
  }
})

test('a device that cannot open a change of a message shows nothing in its place', async () => {
  await using set = await stage()
  const { bed, bob, eve, group, session } = set
  for (const chat of [bob.user.pnJid, group.jid]) {
    const target = { chat, id: session.newMessageId(), fromMe: true, participant: null }
    await session.send(chat, plain('original'), target.id)
    const changes = [
      { type: 'edit', target, text: 'changed' },
      { type: 'reaction', target, emoji: '👍' },
      { type: 'revoke', target },
    ] as const
    for (const content of changes) {
      const id = session.newMessageId()
      await session.send(chat, content, id)
      const reader = chat === group.jid ? eve : bob
      const { stanza } = await reader.messages.waitFor(content.type, (one) => one.id === id)
      assert.equal(child(stanza, 'enc')?.attrs['decrypt-fail'], 'hide', `${content.type} in ${chat}`)
    }
    const [original] = bed.sim.log.find({ tag: 'message' }).filter(({ attrs }) => attrs['id'] === target.id)
    assert.equal(child(original?.node, 'enc')?.attrs['decrypt-fail'], undefined)
  }
})

test('an edit that is sent again is still an edit', async () => {
  await using set = await stage()
  const { bob, session, again } = set
  const chat = bob.user.pnJid
  const target = { chat, id: '3EB0000000000001', fromMe: true, participant: null }
  await session.send(chat, plain('original'), target.id)
  await bob.messages.waitFor('the original', () => true)
  bob.device.forgetEverything()
  await session.send(chat, { type: 'edit', target, text: 'changed' }, '3EB0000000000002')
  await bob.messages.waitFor('the edit', (one) => one.id === '3EB0000000000002')
  const [resent] = again('3EB0000000000002')
  assert.equal(resent?.attrs['edit'], '1')
  assert.equal(child(resent.node, 'enc')?.attrs['decrypt-fail'], 'hide')
})

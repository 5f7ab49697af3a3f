// The server knows a device that the account does not know: the device gets the message too, under the same id.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textOfMessage } from '../../../sim/network/people/received-message.ts'
import { participantHash } from '../../../sim/network/server/participant-hash.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'
import { plain } from '../harness/contents.ts'

async function stage() {
  const bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const eve = bed.sim.person({ phone: '5511888880002' })
  const group = bed.sim.group('Team', bob, [phone, eve])
  const { session } = await bed.online('s')
  const stanzas = (id: string) =>
    bed.sim.log.find({ tag: 'message' }).filter((one) => one.direction === 'in' && one.attrs['id'] === id)
  const acks = () => bed.sim.log.find({ tag: 'ack' }).filter((one) => one.direction === 'out')
  const close = () => bed[Symbol.asyncDispose]()
  return { bed, phone, bob, eve, group, session, stanzas, acks, [Symbol.asyncDispose]: close }
}

test('a group message carries the hash of all devices, and the server agrees', async () => {
  await using set = await stage()
  const { group, session, stanzas, acks } = set
  await session.send(group.jid, plain('one'), '3EB0000000000001')
  const devices = [...group.members()].flatMap((user) => [...user.devices.values()])
  assert.equal(stanzas('3EB0000000000001')[0]?.attrs['phash'], participantHash(devices, 'lid'))
  assert.deepEqual(
    acks().flatMap(({ attrs }) => attrs['phash'] ?? []),
    [],
  )
})

test('a new device of a member, of which no notice came, reads the message and the next one', async () => {
  await using set = await stage()
  const { bob, eve, group, session, stanzas } = set
  await session.send(group.jid, plain('one'), '3EB0000000000001')
  const laptop = bob.addDevice({ isTold: false })
  bob.asksAgain = false
  await session.send(group.jid, plain('two'), '3EB0000000000002')
  await bob.opened.waitFor('the message on the laptop', (one) => one.device === laptop.id)
  // Only the laptop gets the message again.
  assert.equal(stanzas('3EB0000000000002').length, 2)
  assert.equal(stanzas('3EB0000000000002')[1]?.attrs['device_fanout'], 'false')
  for (const { duplicates } of [bob, eve]) assert.equal(duplicates, 0)
  await session.send(group.jid, plain('three'), '3EB0000000000003')
  await bob.opened.waitFor('the next message', (one) => one.device === laptop.id && one.id === '3EB0000000000003')
  assert.equal(stanzas('3EB0000000000003').length, 1)
})

test('a new member, of whom no notice came, reads the message', async () => {
  await using set = await stage()
  const { bed, group, session } = set
  await session.send(group.jid, plain('one'), '3EB0000000000001')
  const carl = bed.sim.person({ phone: '5511888880003' })
  carl.asksAgain = false
  group.roles.set(carl.user, 'member')
  await session.send(group.jid, plain('two'), '3EB0000000000002')
  const received = await carl.messages.waitFor('the message', (one) => one.id === '3EB0000000000002')
  assert.equal(textOfMessage(received.message), 'two')
})

test('a member who joins after the message does not get it', async () => {
  await using set = await stage()
  const { bed, bob, group, session, stanzas } = set
  await session.send(group.jid, plain('one'), '3EB0000000000001')
  const laptop = bob.addDevice({ isTold: false })
  bob.asksAgain = false
  const carl = bed.sim.person({ phone: '5511888880003' })
  // Carl joins while the account asks for the members again.
  const stop = bed.sim.router.override('w:g2 get query', () => {
    group.roles.set(carl.user, 'member')
    return null
  })
  await session.send(group.jid, plain('two'), '3EB0000000000002')
  await bob.opened.waitFor('the message on the laptop', (one) => one.device === laptop.id)
  stop()
  assert.ok(group.roles.has(carl.user), 'the account asked for the members')
  assert.equal(carl.messages.length, 0)
  assert.equal(stanzas('3EB0000000000002').length, 2)
})

test('a new device of a person, of which no notice came, reads the message', async () => {
  await using set = await stage()
  const { bob, session, stanzas } = set
  await session.send(bob.user.pnJid, plain('one'), '3EB0000000000001')
  const laptop = bob.addDevice({ isTold: false })
  await session.send(bob.user.pnJid, plain('two'), '3EB0000000000002')
  await bob.opened.waitFor('the message on the laptop', (one) => one.device === laptop.id)
  assert.equal(bob.duplicates, 0)
  await session.send(bob.user.pnJid, plain('three'), '3EB0000000000003')
  await bob.opened.waitFor('the next message', (one) => one.device === laptop.id && one.id === '3EB0000000000003')
  assert.equal(stanzas('3EB0000000000003').length, 1)
})

test('a second new device within a minute reads the message too', async () => {
  await using set = await stage()
  const { bob, group, session } = set
  bob.asksAgain = false
  for (const [n, chat] of [bob.user.pnJid, group.jid].entries()) {
    await session.send(chat, plain('one'), `3EB00000000000${n}1`)
    for (const step of [2, 3]) {
      const id = `3EB00000000000${n}${step}`
      const added = bob.addDevice({ isTold: false })
      await session.send(chat, plain('new device'), id)
      await bob.opened.waitFor(`${id} on the new device`, (one) => one.device === added.id && one.id === id)
    }
  }
  assert.equal(bob.duplicates, 0)
})

test('a missing device without keys: no stanza leaves that reaches no device', async () => {
  await using set = await stage()
  const { bed, bob, group, session, stanzas } = set
  await session.send(group.jid, plain('one'), '3EB0000000000001')
  bob.asksAgain = false
  bob.user.hasNoKeys = true
  const laptop = bob.addDevice({ isTold: false })
  const isAsked = () =>
    bed.sim.log
      .find({ tag: 'iq' })
      .some(
        ({ direction, node }) => direction === 'in' && JSON.stringify(node).includes(bob.user.jid('lid', laptop.id)),
      )
  await session.send(group.jid, plain('two'), '3EB0000000000002')
  await waitUntil('the keys of the laptop are asked for', isAsked)
  await session.probe(60_000)
  await session.send(group.jid, plain('three'), '3EB0000000000003')
  assert.equal(stanzas('3EB0000000000002').length, 1)
})

test('this device, which the remembered list did not name, gets no stanza of its own', async () => {
  await using set = await stage()
  const { bed, phone, bob, session, stanzas } = set
  const { devices } = phone.user
  const [[id, device] = assert.fail('the account has no second device')] = [...devices].filter(([one]) => one !== 0)
  const laptop = bob.addDevice({ isTold: false })
  devices.delete(id)
  await session.send(bob.user.pnJid, plain('one'), '3EB0000000000001')
  devices.set(id, device)
  bob.user.devices.delete(laptop.id)
  const questions = () => bed.sim.log.find({ tag: 'iq' }).filter(({ attrs }) => attrs['xmlns'] === 'usync').length
  const before = questions()
  await session.send(bob.user.pnJid, plain('two'), '3EB0000000000002')
  await waitUntil('the devices are asked for', () => questions() > before)
  await session.probe(60_000)
  await session.send(bob.user.pnJid, plain('three'), '3EB0000000000003')
  assert.equal(stanzas('3EB0000000000002').length, 1)
})

test('a hash that stays another one costs one question, not one for every message', async () => {
  await using set = await stage()
  const { bed, bob, session, acks } = set
  const isQuestion = ({ attrs }: { attrs: Record<string, string> }) => attrs['xmlns'] === 'usync'
  const questions = () => bed.sim.log.find({ tag: 'iq' }).filter(isQuestion).length
  await session.send(bob.user.pnJid, plain('one'), '3EB0000000000001')
  const before = questions()
  bob.user.hasNoKeys = true
  bob.addDevice({ isTold: false })
  await session.send(bob.user.pnJid, plain('two'), '3EB0000000000002')
  await waitUntil('the devices are asked for', () => questions() > before)
  for (const id of ['3EB0000000000003', '3EB0000000000004']) await session.send(bob.user.pnJid, plain('more'), id)
  await session.probe(60_000)
  assert.equal(acks().filter(({ attrs }) => attrs['phash'] !== undefined).length, 3)
  assert.equal(questions(), before + 1)
})

test('a message that cannot be sent to a missing device is a warning without the text and the number', async () => {
  await using set = await stage()
  const { bed, bob, group, session } = set
  const warnings = () => bed.logs.withMessage('a message did not reach a device that only the network knew')
  for (const [n, chat] of [bob.user.pnJid, group.jid].entries()) {
    await session.send(chat, plain('one'), `3EB00000000000${n}1`)
    bob.addDevice({ isTold: false })
    bed.sim.fault({ kind: 'query_error', query: n === 0 ? 'usync get usync' : 'w:g2 get query', code: 500, times: 1 })
    const id = `3EB00000000000${n}2`
    await session.send(chat, plain('a secret'), id)
    await waitUntil('the failure is logged', () => warnings().length === n + 1)
    const line = warnings()[n]
    assert.deepEqual([line?.['session'], line?.['message_id'], line?.['is_group']], ['s', id, n === 1])
    assert.doesNotMatch(JSON.stringify(line), /a secret|5511888880001/)
  }
})

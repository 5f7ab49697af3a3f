// A member leaves while a message is sealed, or sealed again: the devices of this member do not get the new key.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { child, children } from '../../../sim/network/wire/stanza.ts'
import type { SessionKeyWrite } from '../../../src/storage/stores/accounts/session-key-store.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'
import { plain } from '../harness/contents.ts'
import { HeldKeys } from '../harness/held-keys.ts'

async function stage() {
  const keys = new HeldKeys()
  const bed = await Bed.open({ keys: (store) => keys.in(store) })
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const eve = bed.sim.person({ phone: '5511888880002' })
  const group = bed.sim.group('Team', bob, [phone, eve], 'pn')
  const { session } = await bed.online('s')
  await session.send(group.jid, plain('one'), '3EB01')
  await eve.messages.waitFor('the first message', () => true)
  const close = () => bed[Symbol.asyncDispose]()
  return { keys, bed, phone, bob, eve, group, session, [Symbol.asyncDispose]: close }
}
type Stage = Awaited<ReturnType<typeof stage>>

/** A device that may have the key is noted with `false`. */
function notesGiven({ kind, value }: SessionKeyWrite): boolean {
  return kind === 'sender-key-memory' && Buffer.from(value ?? []).includes('false')
}

/** Eve is removed, and her devices go on to get every ciphertext of the group. */
async function remove({ bed, bob, eve, group, session }: Stage): Promise<void> {
  group.change(bob.user, 'remove', eve.user)
  for (const device of eve.user.devices.values()) group.listeners.add(device)
  const isNotice = ({ direction, attrs }: { direction: string; attrs: Record<string, string> }) =>
    direction === 'out' && attrs['type'] === 'w:gp2'
  await waitUntil('the notice is written', () => bed.sim.log.find({ tag: 'notification' }).some(isNotice))
  await session.probe(60_000)
}

async function cannotReadOn({ bob, eve, group, phone, session }: Stage): Promise<void> {
  await session.probe(60_000)
  await waitUntil('all notices are confirmed', () => phone.companion.books.size === 0)
  for (const id of ['3EB03', '3EB04']) {
    await session.send(group.jid, plain('for members'), id)
    await bob.messages.waitFor(`the message ${id}`, (one) => one.id === id)
    const isOpened = () => eve.opened.entries.some((one) => one.id === id)
    const tried = () => eve.undecryptable.entries.filter((one) => one.id === id).length
    await waitUntil(`${id} is tried`, () => isOpened() || tried() === eve.user.devices.size)
    assert.equal(isOpened(), false, 'a former member opened the message')
  }
}

test('a member who asks and is removed before the answer is sealed cannot read later messages', async () => {
  await using set = await stage()
  const { keys, eve, group, session } = set
  eve.device.forgetEverything()
  const { reached, release } = keys.hold(notesGiven)
  await session.send(group.jid, plain('two'), '3EB02')
  await reached
  await remove(set)
  release()
  await cannotReadOn(set)
})

test('a member who is removed while the message is sealed for a missed device gets no frame', async () => {
  await using set = await stage()
  const { keys, bed, eve, group, session } = set
  eve.asksAgain = false
  eve.addDevice({ isTold: false })
  const { reached, release } = keys.hold(notesGiven)
  await session.send(group.jid, plain('two'), '3EB02')
  await reached
  await remove(set)
  release()
  await cannotReadOn(set)
  const frames = bed.sim.log.find({ tag: 'message' }).filter(({ attrs }) => attrs['id'] === '3EB02')
  assert.equal(frames.filter(({ direction }) => direction === 'in').length, 1)
})

test('a member who is removed while the devices of the group are asked for cannot read the message', async () => {
  await using set = await stage()
  const { keys, bed, bob, group, phone, session } = set
  const carl = bed.sim.person({ phone: '5511888880003' })
  group.change(bob.user, 'add', carl.user)
  await session.probe(60_000)
  await waitUntil('all notices are confirmed', () => phone.companion.books.size === 0)
  // The account knows no devices of Carl, so it asks for them.
  const { reached, release } = keys.hold(({ kind }) => kind === 'device-list')
  const sending = session.send(group.jid, plain('two'), '3EB02')
  await reached
  await remove(set)
  release()
  await sending
  const [sent] = bed.sim.log.find({ tag: 'message' }).filter(({ attrs }) => attrs['id'] === '3EB02')
  const given = children(child(sent?.node, 'participants'), 'to').flatMap(({ attrs }) => attrs['jid'] ?? [])
  assert.deepEqual(given.toSorted(), [phone.user.pnJid, bob.user.pnJid, carl.user.pnJid].toSorted())
  await cannotReadOn(set)
})

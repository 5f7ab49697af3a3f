// Around sending: finding people, marking as read, typing, and those who ask for a message again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textOfMessage } from '../../../sim/network/people/received-message.ts'
import type { OutgoingContent } from '../../../src/core/network/outgoing-content.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'
import { plain } from '../harness/contents.ts'

test('ids are new each time and look like those of other clients', async () => {
  await using bed = await Bed.open()
  await bed.linked('s')
  const { session } = await bed.online('s')
  const ids = new Set(Array.from({ length: 100 }, () => session.newMessageId()))
  assert.equal(ids.size, 100)
  for (const id of ids) assert.match(id, /^3EB0[0-9A-F]{18}$/)
})

test('a person is found by number, in the spelling of the network, or not at all', async () => {
  await using bed = await Bed.open()
  await bed.linked('s')
  const bob = bed.sim.person({ phone: '551188880001' })
  const { session } = await bed.online('s')
  assert.deepEqual(await session.findPerson('551188880001'), { phone: '551188880001', lid: bob.user.lid })
  assert.equal(await session.findPerson('5511000000000'), null)
  // The network knows this Brazilian number without the ninth digit.
  const restore = bed.sim.router.override('usync get usync', () => [
    {
      tag: 'usync',
      attrs: {},
      content: [
        {
          tag: 'list',
          attrs: {},
          content: [
            {
              tag: 'user',
              attrs: { jid: bob.user.pnJid },
              content: [
                { tag: 'contact', attrs: { type: 'in' } },
                { tag: 'lid', attrs: { val: bob.user.lidJid } },
              ],
            },
          ],
        },
      ],
    },
  ])
  assert.deepEqual(await session.findPerson('5511988880001'), { phone: '551188880001', lid: bob.user.lid })
  restore()
  bed.sim.fault({ kind: 'query_error', query: 'usync get usync', code: 500 })
  await assert.rejects(session.findPerson('551188880001'), /500/)
})

test('messages are marked as read, of one sender in one receipt', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const { session } = await bed.online('s')
  const ids = ['one', 'two', 'three'].map((text) => bob.text(phone, text).id)
  const chat = bob.user.pnJid
  await session.markRead(ids.map((id) => ({ chat, id, fromMe: false, participant: null })))
  for (const id of ids) await bob.receipts.waitFor(id, (one) => one.id === id && one.type === 'read')
  const receipts = bed.sim.log.find({ tag: 'receipt' }).filter(({ attrs }) => attrs['type'] === 'read')
  assert.equal(receipts.length, 1)
})

test('typing is shown and ended, and the account is online when told to be', async () => {
  await using bed = await Bed.open()
  await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const { session } = await bed.online('s')
  await session.setAvailable(true)
  await session.setAvailable(false)
  await session.setTyping(bob.user.pnJid, true)
  await session.setTyping(bob.user.pnJid, false)
  const states = () =>
    ['presence', 'chatstate'].flatMap((tag) =>
      bed.sim.log
        .find({ tag })
        .filter((one) => one.direction === 'in')
        .map(({ attrs, node }) => attrs['type'] ?? (Array.isArray(node.content) ? node.content[0]?.tag : undefined)),
    )
  await waitUntil('everything was heard', () => states().at(-1) === 'paused', { instead: states })
  // The first is said at every login: who is online silences the phone.
  assert.deepEqual(states(), ['unavailable', 'available', 'unavailable', 'composing', 'paused'])
})

test('a person who asks for a message after a restart gets it again', async () => {
  const books = new Map<string, OutgoingContent>()
  const findSent = (instance: string, id: string) => Promise.resolve(books.get(`${instance} ${id}`) ?? null)
  await using bed = await Bed.open({ network: { findSent } })
  await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const { session } = await bed.online('s')
  await session.send(bob.user.pnJid, plain('warm up'), '3EB0000000000001')
  bob.device.forgetEverything()
  bed.sim.fault({ kind: 'delay', ms: 60_000 })
  books.set('s 3EB0000000000002', plain('again please'))
  const sending = session.send(bob.user.pnJid, plain('again please'), '3EB0000000000002').catch(() => undefined)
  await bob.undecryptable.waitFor('the unreadable message', (one) => one.id === '3EB0000000000002')
  await bed.network.release('s')
  await sending
  bed.sim.clearFaults()
  await bed.online('s')
  const received = await bob.messages.waitFor('the message', (one) => one.id === '3EB0000000000002')
  assert.equal(textOfMessage(received.message), 'again please')
})

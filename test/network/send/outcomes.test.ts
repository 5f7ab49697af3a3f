// What became of a message that was not acknowledged: not sent, refused, or unknown and then sent once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textOfMessage } from '../../../sim/network/people/received-message.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'
import { plain } from '../harness/contents.ts'
import { FailingKeys } from '../harness/failing-keys.ts'
import { failure } from '../harness/send-failure.ts'

const id = '3EB0000000000001'

async function stage(options: Parameters<typeof Bed.open>[0] = {}) {
  const bed = await Bed.open(options)
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const line = await bed.online('s')
  const [{ session }, chat] = [line, bob.user.pnJid]
  return { bed, phone, bob, line, session, chat, [Symbol.asyncDispose]: () => bed[Symbol.asyncDispose]() }
}

function seenBy(person: { messages: { entries: readonly { id: string }[] } }): number {
  return person.messages.entries.filter((one) => one.id === id).length
}

for (const [kind, seenAtFirst] of [
  ['lost_ack', 1],
  ['lost_message', 0],
] as const) {
  test(`${kind}: the outcome is unknown, and a repeat under the same id is read once`, async () => {
    const clock = new ManualClock()
    await using set = await stage({ clock })
    const { bed, bob, session, chat } = set
    await session.send(chat, plain('warm up'), '3EB0000000000000')
    bed.sim.fault({ kind })
    const sending = failure(session.send(chat, plain('maybe'), id))
    await bed.sim.waitForStanza('message', ({ attrs }) => attrs['id'] === id)
    await clock.advance(15_000)
    const error = await sending
    assert.equal(error.outcome, 'unknown')
    assert.match(error.message, /did not acknowledge the message within 15 s/)
    assert.equal(seenBy(bob), seenAtFirst)
    await session.send(chat, plain('maybe'), id)
    await bob.messages.waitFor('the message', (one) => one.id === id)
    assert.equal(seenBy(bob), 1)
  })
}

test('an acknowledged message was sent at the time that the server says', async () => {
  const clock = new ManualClock(Date.UTC(2020, 1, 1))
  await using set = await stage({ clock })
  const { session, chat } = set
  const before = Math.floor(Date.now() / 1000) * 1000
  const { at } = await session.send(chat, plain('now'), id)
  assert.ok(at !== null && at >= before && at <= Date.now(), String(at))
})

test('a connection lost while the message is under way: unknown, and sent once after the reconnect', async () => {
  await using set = await stage()
  const { bed, bob, line, chat } = set
  bed.sim.fault({ kind: 'drop_on', tag: 'message' })
  const error = await failure(line.session.send(chat, plain('maybe'), id))
  assert.equal(error.outcome, 'unknown')
  await line.closing()
  const { session } = await bed.online('s')
  await session.send(chat, plain('maybe'), id)
  assert.equal(seenBy(bob), 1)
})

test('what the network refuses is refused with its code; what it cannot take now may be tried again', async () => {
  await using set = await stage()
  const { bed, bob, session, chat } = set
  for (const [code, outcome] of [
    [463, 'refused'],
    [479, 'refused'],
    [404, 'refused'],
    [429, 'not_sent'],
    [500, 'not_sent'],
    [503, 'not_sent'],
  ] as const) {
    bed.sim.fault({ kind: 'ack_error', code, times: Infinity })
    const error = await failure(session.send(chat, plain('no'), `3EB0${code}`))
    bed.sim.clearFaults()
    assert.deepEqual([error.outcome, error.code], [outcome, code])
    assert.match(error.message, new RegExp(String(code)))
  }
  assert.equal(bob.messages.length, 0)
  await session.send(chat, plain('yes'), id)
  await bob.messages.waitFor('the next message', (one) => textOfMessage(one.message) === 'yes')
})

test('a number that is not on the network is refused, and the next message to another person is sent', async () => {
  await using set = await stage()
  const { bed, session, chat } = set
  const error = await failure(session.send('5511000000000@s.whatsapp.net', plain('hello?'), id))
  assert.equal(error.outcome, 'refused')
  assert.match(error.message, /not on WhatsApp/)
  assert.equal(bed.sim.log.find({ tag: 'message' }).length, 0)
  await session.send(chat, plain('hello'), id)
})

for (const query of ['usync get usync', 'encrypt get key']) {
  test(`when the network refuses to answer "${query}" nothing is sent`, async () => {
    await using set = await stage()
    const { bed, bob, session, chat } = set
    bed.sim.fault({ kind: 'query_error', query, code: 500, times: 4 })
    const error = await failure(session.send(chat, plain('hello'), id))
    assert.equal(error.outcome, 'not_sent')
    bed.sim.clearFaults()
    assert.equal(bed.sim.log.find({ tag: 'message' }).filter((one) => one.direction === 'in').length, 0)
    await session.send(chat, plain('hello'), id)
    await bob.messages.waitFor('the message', (one) => one.id === id)
  })
}

test('a network that does not say who has which devices: not sent, and others need not wait for it', async () => {
  const clock = new ManualClock()
  await using set = await stage({ clock })
  const { bed, session, chat } = set
  await session.send(chat, plain('warm up'), '3EB0000000000000')
  const eve = bed.sim.person({ phone: '5511888880002' })
  bed.sim.fault({ kind: 'query_silence', query: 'usync get usync' })
  const sending = failure(session.send(eve.user.pnJid, plain('hello'), id))
  await bed.sim.waitForStanza('iq', ({ node }) => JSON.stringify(node).includes(eve.user.pnJid))
  await session.send(chat, plain('meanwhile'), '3EB0000000000002')
  await clock.advance(10_000)
  assert.equal((await sending).outcome, 'not_sent')
  await session.send(eve.user.pnJid, plain('hello'), id)
})

test('storage that is away for too long: not sent, and not sent later either', async () => {
  const clock = new ManualClock()
  let keys: FailingKeys | undefined
  await using set = await stage({ clock, keys: (store) => (keys = new FailingKeys(store)) })
  const { bob, session, chat } = set
  await session.send(chat, plain('warm up'), '3EB0000000000000')
  if (keys) keys.down = true
  const sending = failure(session.send(chat, plain('held'), id))
  await waitUntil('storage was asked', () => (keys?.refused ?? 0) > 0)
  await clock.advance(30_000)
  const error = await sending
  assert.equal(error.outcome, 'not_sent')
  if (keys) keys.down = false
  await clock.advance(5_000)
  await session.send(chat, plain('afterwards'), '3EB0000000000002')
  await bob.messages.waitFor('what came afterwards', (one) => one.id === '3EB0000000000002')
  assert.equal(seenBy(bob), 0)
  assert.equal(bob.undecryptable.length, 0)
})

test('nothing is sent on a connection that has ended', async () => {
  await using set = await stage()
  const { session, chat } = set
  await session.close()
  assert.equal((await failure(session.send(chat, plain('x'), id))).outcome, 'not_sent')
})

test('messages sent while the connection drops and comes back are each read once', async () => {
  await using set = await stage()
  const { bed, bob, chat, ...first } = set
  let { line } = first
  const texts = Array.from({ length: 30 }, (_, n) => ({ id: `3EB0R${n}`, text: `text ${n}` }))
  bed.sim.fault({ kind: 'drop_on', tag: 'message', nth: 10 })
  for (const { id, text } of texts) {
    const outcome = await line.session.send(chat, plain(text), id).catch((error: unknown) => error)
    if (!(outcome instanceof Error)) continue
    await line.closing()
    line = await bed.online('s')
    await line.session.send(chat, plain(text), id)
  }
  await waitUntil('all are read', () => bob.messages.length === texts.length)
  assert.deepEqual(
    bob.messages.entries.map((one) => one.id),
    texts.map((one) => one.id),
  )
  assert.equal(bob.undecryptable.length, 0)
})

test('a burst of messages leaves the event loop time for others', async () => {
  await using set = await stage()
  const { session, chat } = set
  await session.send(chat, plain('warm up'), '3EB0000000000000')
  let turns = 0
  let isOver = false
  const count = () => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  const burst = Promise.all(Array.from({ length: 100 }, (_, n) => session.send(chat, plain(`${n}`), `3EB0B${n}`)))
  count()
  await burst
  isOver = true
  assert.ok(turns >= 100, `${turns} turns for 100 messages`)
})

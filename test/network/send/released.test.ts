// A message that is made ready before it may leave: not a frame of it goes out until it is released.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textOfMessage } from '../../../sim/network/people/received-message.ts'
import { SendError } from '../../../src/core/network.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { Bed } from '../harness/bed.ts'
import { plain } from '../harness/contents.ts'

const id = '3EB0000000000001'

async function stage(options: Parameters<typeof Bed.open>[0] = {}) {
  const bed = await Bed.open(options)
  await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const eve = bed.sim.person({ phone: '5511888880002' })
  const line = await bed.online('s')
  const { session } = line
  let others = 0
  /** What is sent meanwhile has gone all the way: so would what was not held back. */
  const meanwhile = () => session.send(eve.user.pnJid, plain('meanwhile'), `3EB000000000010${++others}`)
  const texts = () => bob.messages.entries.map(({ message }) => textOfMessage(message))
  await session.send(bob.user.pnJid, plain('before'), '3EB0000000000000')
  return {
    bed,
    bob,
    line,
    session,
    chat: bob.user.pnJid,
    meanwhile,
    texts,
    [Symbol.asyncDispose]: () => bed[Symbol.asyncDispose](),
  }
}

test('a message leaves when it is released, and not before', async () => {
  await using set = await stage()
  const { session, chat, meanwhile, texts } = set
  const released = Promise.withResolvers<undefined>()
  const sending = session.send(chat, plain('held'), id, { after: released.promise })
  await meanwhile()
  await meanwhile()
  assert.deepEqual(texts(), ['before'])
  released.resolve(undefined)
  await sending
  assert.deepEqual(texts(), ['before', 'held'])
})

test('a message that is not released is not sent, and the next one is read', async () => {
  await using set = await stage()
  const { session, chat, texts } = set
  const refused = Promise.reject(new Error('it could not be stored'))
  await assert.rejects(session.send(chat, plain('no'), id, { after: refused }), isNotSent)
  await session.send(chat, plain('next'), '3EB0000000000002')
  assert.deepEqual(texts(), ['before', 'next'])
})

test('a message that is released too late is not sent, and does not leave later', async () => {
  const clock = new ManualClock()
  await using set = await stage({ clock })
  const { session, chat, meanwhile, texts } = set
  const released = Promise.withResolvers<undefined>()
  const sending = session.send(chat, plain('late'), id, { after: released.promise })
  const outcome = assert.rejects(sending, isNotSent)
  await meanwhile()
  await clock.advance(30_000)
  await outcome
  released.resolve(undefined)
  await session.send(chat, plain('next'), '3EB0000000000002')
  assert.deepEqual(texts(), ['before', 'next'])
})

test('a message whose connection ends before its release is not sent', async () => {
  await using set = await stage()
  const { bed, line, session, chat, texts } = set
  const released = Promise.withResolvers<undefined>()
  const sending = session.send(chat, plain('gone'), id, { after: released.promise })
  const outcome = assert.rejects(sending, isNotSent)
  await line.session.close()
  released.resolve(undefined)
  await outcome
  const again = await bed.online('s')
  await again.session.send(chat, plain('next'), '3EB0000000000002')
  assert.deepEqual(texts(), ['before', 'next'])
})

function isNotSent(error: unknown): boolean {
  return error instanceof SendError && error.outcome === 'not_sent'
}

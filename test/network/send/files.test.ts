// Uploads of files: a failing or slow upload delays no other message, and a file is uploaded once for all its sends.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { SendError } from '../../../src/core/network.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { Bed } from '../harness/bed.ts'
import { plain } from '../harness/contents.ts'
import { trustMediaHost } from '../../harness/media-authority.ts'
import { fileContent, Files } from '../harness/files.ts'

const id = '3EB0000000000001'

async function stage(options: Parameters<typeof Bed.open>[0] = {}) {
  await using stack = new AsyncDisposableStack()
  const bed = stack.use(await Bed.open(options))
  trustMediaHost(bed.sim)
  await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const { session } = await bed.online('s')
  const files = stack.use(await Files.open())
  const bytes = randomBytes(200_000)
  const content = fileContent({ path: await files.write('f', bytes) })
  const owned = stack.move()
  const dispose = () => owned.disposeAsync()
  return { bed, bob, session, chat: bob.user.pnJid, bytes, content, [Symbol.asyncDispose]: dispose }
}

const isNotSent = (error: unknown) => error instanceof SendError && error.outcome === 'not_sent'

test('a message whose upload is refused or has no host is not sent, and is sent at the next try', async () => {
  await using set = await stage()
  const { bed, bob, session, chat, bytes, content } = set
  bed.sim.media.refusedUploads = 1
  await assert.rejects(session.send(chat, content, id), isNotSent)
  bed.sim.fault({ kind: 'query_error', query: 'w:m set media_conn', code: 500 })
  const fresh = await bed.online('s')
  await assert.rejects(fresh.session.send(chat, content, id), isNotSent)
  await fresh.session.send(chat, content, id)
  const received = await bob.messages.waitFor('the file', (one) => one.id === id)
  assert.deepEqual(bob.download(received), bytes)
})

test('a file that is not there is not sent, and the reason says so', async () => {
  await using set = await stage()
  const { session, chat } = set
  const sending = session.send(chat, fileContent({ path: '/nowhere/at/all' }), id)
  await assert.rejects(sending, (error: unknown) => isNotSent(error) && /no such file/.test(String(error)))
})

test('a file whose message was not acknowledged is not uploaded again', async () => {
  const clock = new ManualClock()
  await using set = await stage({ clock })
  const { bed, bob, session, chat, content } = set
  bed.sim.fault({ kind: 'lost_ack' })
  const failed = assert.rejects(session.send(chat, content, id), /did not acknowledge/)
  await bob.messages.waitFor('the file', (one) => one.id === id)
  await clock.advance(15_000)
  await failed
  await session.send(chat, content, id)
  assert.equal(bed.sim.media.uploads, 1)
  assert.equal(bob.messages.length, 1)
})

test('an upload that hangs holds up neither texts nor other files, and ends with the connection', async () => {
  await using set = await stage()
  const { bed, bob, session, chat, content } = set
  const silent = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const hostname = `localhost:${(silent.address() as AddressInfo).port}`
  const named = { tag: 'host', attrs: { hostname } }
  const hang = bed.sim.router.override('w:m set media_conn', () => [
    { tag: 'media_conn', attrs: { auth: 'a', ttl: '0' }, content: [named] },
  ])
  const called = once(silent, 'connection')
  const hanging = assert.rejects(session.send(chat, content, id), isNotSent)
  await called
  hang()
  await session.send(chat, plain('meanwhile'), '3EB0000000000002')
  await bob.messages.waitFor('the text', (one) => one.id === '3EB0000000000002')
  await session.close()
  await hanging
  silent.close()
})

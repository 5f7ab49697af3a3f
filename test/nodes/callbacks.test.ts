// Callbacks at a node that does not hold the instance: the helpdesk sends each once, so none may be lost.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statusOfCode } from '../../src/core/errors.ts'
import type { ErrorCode } from '../../src/core/errors.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { freePort } from '../harness/free-port.ts'
import { requestFrom } from '../harness/http-request.ts'
import { sendRaw } from '../harness/raw-request.ts'
import { RawServer } from '../harness/raw-server.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { distrusting, startPair, TestNode } from './harness/two-nodes.ts'

const signed = { 'x-chatwoot-signature': 'sha256=abc', 'content-type': 'application/json' }
const raw = '{"event": "message_created" }'
const post = (url: string, body: string | Uint8Array = raw) =>
  requestFrom(url, 'POST', '/api/instances/shop/webhook', { body, headers: signed })

test('the owner gets the bytes and headers as they came', async () => {
  await using pair = await startPair()
  const { status } = await post(pair.stranger.url)
  assert.equal(status, 202)
  const [seen] = pair.owner.seen
  assert.equal(String(seen?.body), raw)
  assert.equal(seen?.headers['x-chatwoot-signature'], signed['x-chatwoot-signature'])
  assert.deepEqual(pair.stranger.stored, [])
})

test('the owner counts the time that the callback has waited', async () => {
  await using pair = await startPair()
  await post(pair.stranger.url)
  assert.ok((pair.owner.seen[0]?.heldMs ?? 0) > 0)
})

test('after a refusal the next owner is asked', async () => {
  await using pair = await startPair()
  await using before = await TestNode.start({ id: 'before-1' })
  before.standing = 'not_held'
  pair.stranger.owners.answers = [before.owner, before.owner, pair.owner.owner]
  const { body } = await post(pair.stranger.url)
  assert.deepEqual(body, { status: 'queued', bytes: raw.length })
})

test('without an owner the callback is stored at once', async () => {
  await using pair = await startPair()
  for (const answer of ['none', 'quarantined'] as const) {
    pair.stranger.owners.answers = [answer]
    const { status, body } = await post(pair.stranger.url)
    assert.deepEqual([status, body], [202, { status: 'queued', stored_by: 'stranger-1' }])
  }
  const [stored] = pair.stranger.stored
  assert.deepEqual([stored?.instance, String(stored?.raw), stored?.mayBeStored], ['shop', raw, false])
  assert.equal(stored?.headers['x-chatwoot-signature'], signed['x-chatwoot-signature'])
})

test('a callback of an instance that leaves its node is stored', async () => {
  await using pair = await startPair()
  pair.owner.standing = 'leaving'
  await post(pair.stranger.url)
  assert.deepEqual(
    pair.stranger.stored.map(({ mayBeStored }) => mayBeStored),
    [false],
  )
  assert.equal(pair.stranger.owners.forgotten, 1)
})

for (const [reason, options] of Object.entries(distrusting)) {
  test(`a callback whose owner does not trust this node is stored: ${reason}`, async () => {
    await using pair = await startPair()
    await using owner = await TestNode.start({ id: 'distrusting-1', ...options })
    pair.stranger.owners.answers = [owner.owner]
    const { status } = await post(pair.stranger.url)
    assert.equal(status, 202)
    assert.deepEqual(
      pair.stranger.stored.map(({ mayBeStored }) => mayBeStored),
      [false],
    )
  })
}

test('a refused connection is looked up once more, then the callback is stored', async () => {
  await using pair = await startPair()
  pair.stranger.owners.answers = [{ id: 'gone-1', address: `http://127.0.0.1:${await freePort()}`, epoch: 2 }]
  await post(pair.stranger.url)
  assert.deepEqual(
    pair.stranger.stored.map(({ mayBeStored }) => mayBeStored),
    [false],
  )
  assert.equal(pair.stranger.owners.asked, 3)
})

test('an owner that is silent, or whose answer breaks off, may have stored the callback', async () => {
  await using pair = await startPair({ clock: systemClock })
  const half = 'HTTP/1.1 202 Accepted\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"status"'
  await using silent = await RawServer.start()
  await using broken = await RawServer.start((socket) =>
    socket.once('data', () => socket.write(half, () => socket.resetAndDestroy())),
  )
  for (const { url } of [silent, broken]) {
    pair.stranger.owners.answers = [{ id: 'odd-1', address: url.replace(/\/$/, ''), epoch: 2 }]
    const { status } = await post(pair.stranger.url)
    assert.equal(status, 202)
  }
  assert.deepEqual(
    pair.stranger.stored.map(({ mayBeStored }) => mayBeStored),
    [true, true],
  )
  assert.ok((pair.stranger.stored[0]?.waitedMs ?? 0) >= 1400, 'the helpdesk has waited for the deadline')
})

test('a large callback to a silent owner is stored before the helpdesk hangs up', async () => {
  await using pair = await startPair({ clock: systemClock })
  await using silent = await RawServer.start()
  pair.stranger.owners.answers = [{ id: 'odd-1', address: silent.url.replace(/\/$/, ''), epoch: 2 }]
  await post(pair.stranger.url, Buffer.alloc(4 * 1024 ** 2, 'x'))
  const [stored] = pair.stranger.stored
  assert.equal(stored?.mayBeStored, true)
  assert.ok(stored.waitedMs < 4000, `stored after ${stored.waitedMs} ms`)
})

test('a callback that has waited here for long is stored without asking the owner', async () => {
  let aheadMs = 0
  await using pair = await startPair({ clock: { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs } })
  const { owner } = pair.owner
  pair.stranger.owners.ownerOf = () => {
    aheadMs = 3600
    return Promise.resolve(owner)
  }
  await post(pair.stranger.url)
  assert.deepEqual([pair.stranger.stored.length, pair.owner.seen.length], [1, 0])
})

test('callbacks that wait at the owner do not keep a node from asking how the owner is', async () => {
  await using node = await TestNode.start({ id: 'node-1' })
  const answer = '{"beatAgeMs":9000,"watchedMs":0}'
  let isCut = false
  await using owner = await RawServer.start((socket) =>
    socket.on('data', (chunk) => {
      const isQuestion = chunk.toString('latin1').startsWith('POST /internal/renewed')
      if (isQuestion) socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${answer.length}\r\n\r\n${answer}`)
      else if (isCut) socket.destroy()
    }),
  )
  const peer = { id: 'owner-1', address: owner.url.replace(/\/$/, '') }
  node.owners.answers = [{ ...peer, epoch: 1 }]
  const posts = Array.from({ length: 40 }, () => post(node.url))
  await waitUntil('callbacks take every connection', () => owner.connections === 16)
  assert.deepEqual(await node.peers.renewed(peer, 800), { beatAgeMs: 9000, watchedMs: 0 })
  isCut = true
  for (const socket of owner.sockets) socket.destroy()
  await Promise.all(posts)
  assert.equal(node.stored.length, posts.length)
})

test('an instance that came here meanwhile is served here', async () => {
  await using pair = await startPair()
  pair.owner.standing = 'not_held'
  pair.stranger.owners.answers = [pair.owner.owner, pair.owner.owner, 'here']
  const { body } = await post(pair.stranger.url)
  assert.deepEqual(body, { status: 'queued', bytes: raw.length })
  assert.equal(String(pair.stranger.seen[0]?.body), raw)
})

test('the refusal of the owner is the answer', async () => {
  await using pair = await startPair()
  const { status } = await post(pair.stranger.url, Buffer.alloc(6 * 1024 ** 2, 'x'))
  assert.equal(status, 413)
  assert.deepEqual(pair.stranger.stored, [])
})

test('a callback that its owner cannot take is stored; a refusal that is for the helpdesk is passed on', async () => {
  await using pair = await startPair()
  let code: ErrorCode = 'SERVICE_INTERNAL'
  await using owner = await RawServer.start((socket) =>
    socket.on('data', () => {
      const text = JSON.stringify({ error: 'no', error_code: code })
      const headers = `content-type: application/json\r\ncontent-length: ${text.length}`
      socket.write(`HTTP/1.1 ${statusOfCode[code]} No\r\n${headers}\r\n\r\n${text}`)
    }),
  )
  pair.stranger.owners.answers = [{ id: 'odd-1', address: owner.url.replace(/\/$/, ''), epoch: 2 }]
  for (code of ['SERVICE_STOPPING', 'SERVICE_NO_OWNER', 'SERVICE_STORAGE_FAILED'] as const) {
    assert.equal((await post(pair.stranger.url)).status, 202, code)
  }
  assert.deepEqual(
    pair.stranger.stored.map(({ mayBeStored }) => mayBeStored),
    [false, true, true],
  )
  for (code of ['SERVICE_MESSAGE_REFUSED', 'SERVICE_OUTBOX_FULL', 'SERVICE_INTERNAL'] as const) {
    const { status, body } = await post(pair.stranger.url)
    assert.deepEqual([status, body], [statusOfCode[code], { error: 'no', error_code: code }])
  }
  assert.equal(pair.stranger.stored.length, 3)
})

test('callbacks that are on their way to an owner share a bounded memory', async () => {
  await using pair = await startPair()
  const bytes = 5 * 1024 ** 2
  const head = `POST /api/instances/shop/webhook HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\n\r\n{`
  // One more than there is room for. None of them ever ends.
  const answers = Array.from({ length: 7 }, () => sendRaw(pair.stranger.url, head).catch(() => ''))
  const cut = () => pair.stranger.logs.withMessage('a body that came slowly was cut, because others wait')
  await waitUntil('a body is cut, because another one waits', () => cut().length > 0)
  pair.stranger.app.server.closeAllConnections()
  await Promise.all(answers)
})

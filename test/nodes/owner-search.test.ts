// What happens when the owner of an instance does not answer, is another one by now, or is missing.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Socket } from 'node:net'
import { systemClock } from '../../src/lib/clock.ts'
import { assertRefused } from '../harness/assertions.ts'
import { FastClock } from '../harness/fast-clock.ts'
import { freePort } from '../harness/free-port.ts'
import { requestFrom } from '../harness/http-request.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { RawServer } from '../harness/raw-server.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { apiToken, distrusting, startPair, TestNode } from './harness/two-nodes.ts'

const token = apiToken
const get = (url: string, path = '/api/instances/shop') => requestFrom(url, 'GET', path, { token })
const restart = (url: string) => requestFrom(url, 'POST', '/api/instances/shop/restart', { token })

async function gone() {
  return { id: 'gone-1', address: `http://127.0.0.1:${await freePort()}`, epoch: 2 }
}

/** A node that takes the request and does to the connection what the test says. */
async function oddNode(onRequest: (socket: Socket) => void) {
  const server = await RawServer.start((socket) => {
    socket.once('data', () => {
      onRequest(socket)
    })
  })
  return {
    owner: { id: 'odd-1', address: server.url.replace(/\/$/, ''), epoch: 2 },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

test('a node that does not hold the instance any more is asked once, and the next look finds the owner', async () => {
  await using pair = await startPair()
  await using before = await TestNode.start({ id: 'before-1' })
  before.standing = 'not_held'
  pair.stranger.owners.answers = [before.owner, before.owner, pair.owner.owner]
  const { status } = await get(pair.stranger.url)
  assert.equal(status, 200)
  assert.deepEqual([before.seen.length, pair.owner.seen.length], [0, 1])
  assert.equal(pair.stranger.owners.forgotten, 1)
  assert.equal(before.logs.withMessage('a request of another node was refused').length, 1)
})

test('a node that has started anew refuses what is for the one before it', async () => {
  await using pair = await startPair()
  const stale = { id: 'owner-0', address: pair.owner.address, epoch: 3 }
  pair.stranger.owners.answers = [stale, stale, pair.owner.owner]
  assert.equal((await get(pair.stranger.url)).status, 200)
  assert.equal(pair.owner.seen.length, 1)
})

for (const [reason, options] of Object.entries(distrusting)) {
  test(`the client is not told that it is distrusted when its node is: ${reason}`, async () => {
    await using pair = await startPair()
    await using owner = await TestNode.start({ id: 'distrusting-1', ...options })
    pair.stranger.owners.answers = [owner.owner]
    const answer = await restart(pair.stranger.url)
    assertRefused(answer, 'SERVICE_NO_OWNER')
    assert.match(answer.text, /does not trust this one: compare their SERVICE_NODE_SECRET, clocks and versions/)
    assert.equal(owner.seen.length, 0)
  })
}

test('a refused connection is followed by another look', async () => {
  await using pair = await startPair()
  const dead = await gone()
  pair.stranger.owners.answers = [dead, dead, pair.owner.owner]
  assert.equal((await restart(pair.stranger.url)).status, 409)
  assert.deepEqual(
    pair.owner.seen.map(({ route }) => route),
    ['/api/instances/:name/restart'],
  )
})

test('without an owner a request waits for one', async () => {
  await using pair = await startPair({ clock: systemClock })
  pair.stranger.owners.answers = ['none', 'none', 'none', pair.owner.owner]
  assert.equal((await get(pair.stranger.url)).status, 200)
})

test('an instance that leaves its node is asked for at the new one', async () => {
  await using pair = await startPair({ clock: systemClock })
  await using before = await TestNode.start({ id: 'before-1' })
  before.standing = 'leaving'
  const moving = [before.owner, before.owner, before.owner, before.owner, pair.owner.owner]
  pair.stranger.owners.answers = moving
  assert.equal((await get(pair.stranger.url)).status, 200)
  assert.deepEqual([before.seen.length, pair.owner.seen.length], [0, 1])
})

test('when no node takes the instance the client is told to try again', async () => {
  await using pair = await startPair({ clock: new FastClock(10) })
  pair.stranger.owners.answers = ['none']
  const answer = await get(pair.stranger.url)
  assertRefused(answer, 'SERVICE_NO_OWNER')
  assert.equal(answer.headers.get('retry-after'), '1')
})

test('an instance that came here meanwhile is served here, with its body', async () => {
  await using pair = await startPair()
  const dead = await gone()
  pair.stranger.owners.answers = [dead, dead, 'here']
  const body = { text: 'whole' }
  const answer = await requestFrom(pair.stranger.url, 'PATCH', '/api/instances/shop', { token, body })
  assert.deepEqual([answer.status, answer.body], [200, body])
  assert.equal(pair.stranger.seen.length, 1)
})

test('a name that no node knows is refused by the route of the node that was asked', async () => {
  await using pair = await startPair()
  pair.stranger.owners.answers = ['unknown']
  await get(pair.stranger.url)
  assert.equal(pair.stranger.seen.length, 1)
})

test('an instance in quarantine is opened by no other request than its restart', async () => {
  await using pair = await startPair()
  pair.stranger.owners.answers = ['quarantined']
  const asked = ['', '/qr', '/wait-ready'].map((path) => get(pair.stranger.url, `/api/instances/shop${path}`))
  const changed = requestFrom(pair.stranger.url, 'DELETE', '/api/instances/shop', { token })
  for (const answer of await Promise.all([...asked, changed])) {
    assertRefused(answer, 'SERVICE_NO_OWNER', /in quarantine.*restart opens it again/)
    assert.equal(answer.headers.get('retry-after'), '60')
  }
  assert.deepEqual([pair.stranger.owners.taken, pair.stranger.seen], [[], []])
})

test('an instance in quarantine is taken by the node that is asked to restart it', async () => {
  await using pair = await startPair()
  pair.stranger.owners.answers = ['quarantined', 'quarantined', 'here']
  assert.equal((await restart(pair.stranger.url)).status, 409)
  assert.deepEqual(pair.stranger.owners.taken, ['shop'])
  assert.equal(pair.stranger.seen.length, 1)
})

describe('a request whose outcome is unknown', () => {
  test('is not repeated when it changes something', async () => {
    await using pair = await startPair()
    await using odd = await oddNode((socket) => socket.resetAndDestroy())
    pair.stranger.owners.answers = [odd.owner, odd.owner, pair.owner.owner]
    assertRefused(await restart(pair.stranger.url), 'SERVICE_NODE_SILENT')
    assert.equal(pair.owner.seen.length, 0)
  })

  test('is repeated when it only reads', async () => {
    await using pair = await startPair()
    await using odd = await oddNode((socket) => socket.resetAndDestroy())
    pair.stranger.owners.answers = [odd.owner, odd.owner, pair.owner.owner]
    assert.equal((await get(pair.stranger.url)).status, 200)
  })
})

test('an answer that breaks off in the middle breaks off for the client too', async () => {
  await using pair = await startPair()
  await using odd = await oddNode((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nhalf', () => {
      socket.resetAndDestroy()
    })
  })
  pair.stranger.owners.answers = [odd.owner]
  await assert.rejects(get(pair.stranger.url))
})

test('when the client hangs up the owner notices', async () => {
  await using pair = await startPair()
  const gaveUp = new AbortController()
  const headers = { authorization: `Bearer ${token}` }
  const asked = fetch(`${pair.stranger.url}/api/instances/shop/wait-ready`, { headers, signal: gaveUp.signal })
  await waitUntil('the owner has the request', () => pair.owner.seen.length === 1)
  gaveUp.abort()
  await assert.rejects(asked)
  await waitUntil('the owner notices', () => pair.owner.seen[0]?.hungUp === true)
})

for (const [method, what, advice] of [
  ['GET', 'wait-ready', /ask again/],
  ['POST', 'history/import', /the import goes on: GET \/api\/jobs/],
  ['POST', 'history/import-all', /the import goes on: GET \/api\/jobs/],
] as const) {
  test(`a client of ${what} at another node is told that its node stops`, async () => {
    await using pair = await startPair()
    const asked = requestFrom(pair.stranger.url, method, `/api/instances/shop/${what}`, { token })
    await waitUntil('the owner has the request', () => pair.owner.seen.length === 1)
    const closed = pair.stranger[Symbol.asyncDispose]()
    assertRefused(await asked, 'SERVICE_STOPPING', advice)
    await closed
  })
}

test('an import at another node may take days; other requests get two minutes', async () => {
  const clock = new ManualClock()
  await using pair = await startPair({ clock })
  let isAnswered = false
  const imported = requestFrom(pair.stranger.url, 'POST', '/api/instances/shop/history/import-all', { token })
  const answered = imported.then(() => (isAnswered = true))
  await waitUntil('the owner has the request', () => pair.owner.seen.length === 1)
  const reached = Promise.withResolvers<undefined>()
  await using silent = await oddNode(() => {
    reached.resolve(undefined)
  })
  pair.stranger.owners.answers = [silent.owner]
  const other = restart(pair.stranger.url)
  await reached.promise
  await clock.advance(120_000)
  assertRefused(await other, 'SERVICE_NODE_SILENT')
  await clock.advance(7 * 24 * 3_600_000)
  assert.equal(isAnswered, false)
  const closed = pair.stranger[Symbol.asyncDispose]()
  await Promise.all([answered, closed])
})

test('many requests that wait for minutes do not hold up callbacks', async () => {
  await using pair = await startPair()
  const gaveUp = new AbortController()
  const headers = { authorization: `Bearer ${token}` }
  const waits = Array.from({ length: 40 }, () =>
    fetch(`${pair.stranger.url}/api/instances/shop/wait-ready`, { headers, signal: gaveUp.signal }),
  )
  await waitUntil('all of them wait at the owner', () => pair.owner.seen.length === waits.length)
  const { status } = await requestFrom(pair.stranger.url, 'POST', '/api/instances/shop/webhook', { body: '{}' })
  assert.equal(status, 202)
  assert.deepEqual(pair.stranger.stored, [])
  gaveUp.abort()
  await Promise.allSettled(waits)
})

test('a large body at a node that does not hold the instance any more goes to the next one', async () => {
  await using pair = await startPair({ clock: systemClock })
  await using before = await TestNode.start({ id: 'before-1' })
  before.standing = 'not_held'
  const head = '--b\r\ncontent-disposition: form-data; name="picture"; filename="p"\r\n\r\n'
  const body = Buffer.concat([Buffer.from(head), Buffer.alloc(7 * 1024 ** 2, 7), Buffer.from('\r\n--b--\r\n')])
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  for (let round = 0; round < 5; round++) {
    pair.stranger.owners.answers = [before.owner, before.owner, pair.owner.owner]
    const path = '/api/instances/shop/groups/1@g.us/picture'
    const { status } = await requestFrom(pair.stranger.url, 'POST', path, { token, headers, body })
    assert.equal(status, 200, `round ${round}`)
  }
})

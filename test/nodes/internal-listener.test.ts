// The listener for nodes serves nodes only, and a forwarded request reaches only what the node that received it could mean.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemClock } from '../../src/lib/clock.ts'
import { ownViews, peerRoutes, refusalHeader } from '../../src/nodes/peer-routes.ts'
import { hashOf, NodeSignature, signatureHeaders } from '../../src/nodes/signature.ts'
import { assertRefused } from '../harness/assertions.ts'
import { freePort } from '../harness/free-port.ts'
import { requestFrom } from '../harness/http-request.ts'
import { sendRaw } from '../harness/raw-request.ts'
import { askNode, forwardHead } from './harness/signed-request.ts'
import { apiToken, nodeSecret, startPair, TestNode } from './harness/two-nodes.ts'

const token = apiToken
const minute = 60_000
const body = '{"text":"a"}'
const forward = { path: peerRoutes.forward, head: forwardHead(), body }

const start = () => TestNode.start({ id: 'node-1' })

test('a signed request of another node is served', async () => {
  await using node = await start()
  const answer = await askNode(node, forward)
  assert.deepEqual([answer.status, answer.text], [200, body])
  assert.equal(node.seen[0]?.ip, '203.0.113.7')
})

describe('a request is refused and does nothing', () => {
  const elsewhere = forwardHead({ instance: 'bar', path: '/api/instances/bar' })
  const cases: [what: string, options: Parameters<typeof askNode>[1], code: Parameters<typeof assertRefused>[1]][] = [
    ['with another secret', { ...forward, secret: 'x'.repeat(32) }, 'SERVICE_NOT_HELD'],
    ['for another node', { ...forward, target: 'node-2' }, 'SERVICE_NOT_HELD'],
    ['of a node whose clock is 6 minutes ahead', { ...forward, aheadMs: 6 * minute }, 'SERVICE_NOT_HELD'],
    ['of a node whose clock is 6 minutes behind', { ...forward, aheadMs: -6 * minute }, 'SERVICE_NOT_HELD'],
    ['with another body', { ...forward, instead: { body: '{"text":"b"}' } }, 'SERVICE_BAD_REQUEST'],
    ['with a shorter body', { ...forward, instead: { body: '{}' } }, 'SERVICE_BAD_REQUEST'],
    [
      'with another head',
      { ...forward, instead: { headers: { [signatureHeaders.head]: elsewhere } } },
      'SERVICE_NOT_HELD',
    ],
    ['with another path', { ...forward, instead: { path: peerRoutes.look } }, 'SERVICE_NOT_HELD'],
    ['with another method', { ...forward, instead: { method: 'PUT' } }, 'SERVICE_NOT_HELD'],
    ['with another time', { ...forward, instead: { headers: { [signatureHeaders.time]: '1' } } }, 'SERVICE_NOT_HELD'],
    [
      'whose target was changed to this node',
      { ...forward, target: 'node-2', instead: { headers: { [signatureHeaders.target]: 'node-1' } } },
      'SERVICE_NOT_HELD',
    ],
    ['for a public path', { path: '/api/instances/shop' }, 'SERVICE_NOT_HELD'],
    ['with a query', { ...forward, path: `${peerRoutes.forward}?a=1` }, 'SERVICE_NOT_HELD'],
    ['without a head', { path: peerRoutes.forward }, 'SERVICE_NOT_HELD'],
    ['with a head that is no JSON', { ...forward, head: 'AAAA' }, 'SERVICE_NOT_HELD'],
    [
      'with a head that lacks a field',
      { ...forward, head: Buffer.from('{}').toString('base64url') },
      'SERVICE_NOT_HELD',
    ],
    [
      'for a route of any node',
      { ...forward, head: forwardHead({ path: '/api/instances/shop/state', method: 'GET' }) },
      'SERVICE_BAD_REQUEST',
    ],
    [
      'for a path that is not there',
      { ...forward, head: forwardHead({ path: '/internal/look' }) },
      'SERVICE_BAD_REQUEST',
    ],
    [
      'for another instance than its head says',
      { ...forward, head: forwardHead({ path: '/api/instances/bar' }) },
      'SERVICE_BAD_REQUEST',
    ],
    [
      'without the token of the client',
      { ...forward, head: forwardHead({ headers: { 'content-type': 'application/json' } }) },
      'SERVICE_UNAUTHORIZED',
    ],
    ['about no instance', { path: peerRoutes.drain, body: '{}' }, 'SERVICE_BAD_REQUEST'],
    [
      'about an instance that is no name',
      { path: peerRoutes.drain, body: '{"instance":"../a"}' },
      'SERVICE_BAD_REQUEST',
    ],
    ['that tells null', { path: peerRoutes.drain, body: 'null' }, 'SERVICE_BAD_REQUEST'],
    ['that tells no JSON', { path: peerRoutes.look, body: '{' }, 'SERVICE_BAD_REQUEST'],
    [
      'that tells something else than it signed',
      { path: peerRoutes.look, instead: { body: '{ }' } },
      'SERVICE_BAD_REQUEST',
    ],
    ['that tells too much', { path: peerRoutes.look, body: `"${'x'.repeat(5000)}"` }, 'SERVICE_BODY_TOO_LARGE'],
  ]
  for (const [what, options, code] of cases) {
    test(what, async () => {
      await using node = await start()
      assertRefused(await askNode(node, options), code)
      assert.deepEqual([node.seen, node.told], [[], []])
    })
  }

  test('without a signature', async () => {
    await using node = await start()
    for (const path of [...Object.values(peerRoutes), '/', '/api/instances/shop', '/api/health']) {
      assertRefused(await requestFrom(node.address, 'POST', path, { token, body: {} }), 'SERVICE_UNAUTHORIZED')
    }
    assert.deepEqual([node.seen, node.told], [[], []])
  })
})

test('a node that goes on telling too much gets the refusal', async () => {
  await using node = await start()
  const headers = new NodeSignature(nodeSecret, systemClock).sign({
    ...{ target: node.id, method: 'POST', path: peerRoutes.look },
    ...{ head: '', bodyHash: hashOf('') },
  })
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST ${peerRoutes.look} HTTP/1.1\r\nhost: x\r\ncontent-length: 10000\r\n${lines.join('')}\r\n`
  assert.match(await sendRaw(node.address, head + 'x'.repeat(5000)), /^HTTP\/1.1 413 /)
})

test('a recorded request is worth nothing at another node and after a restart of this one', async () => {
  await using pair = await startPair()
  const { status, headers } = await askNode(pair.owner, { ...forward, target: pair.stranger.id })
  assert.deepEqual([status, headers.get(refusalHeader)], [421, 'other_node'])
})

test('an instance that is not here, or is leaving, is answered with 421 and the reason', async () => {
  await using node = await start()
  for (const standing of ['not_held', 'leaving'] as const) {
    node.standing = standing
    const { status, headers } = await askNode(node, forward)
    assert.deepEqual([status, headers.get(refusalHeader)], [421, standing])
  }
  assert.deepEqual(node.seen, [])
})

test('a forwarded request is never handed on', async () => {
  await using pair = await startPair()
  // Each of the two takes the other for the owner.
  pair.owner.owners.answers = [pair.stranger.owner]
  const { status } = await requestFrom(pair.stranger.url, 'GET', '/api/instances/shop', { token })
  assert.equal(status, 200)
  assert.deepEqual([pair.owner.seen.length, pair.stranger.seen.length, pair.owner.owners.asked], [1, 0, 0])
})

test('the public listener has no route of nodes, and headers of nodes mean nothing to it', async () => {
  await using pair = await startPair()
  for (const path of Object.values(peerRoutes)) {
    assertRefused(await requestFrom(pair.owner.url, 'POST', path, { token, body: {} }), 'SERVICE_ROUTE_NOT_FOUND')
  }
  const headers = {
    [signatureHeaders.head]: forwardHead({ instance: 'bar' }),
    [signatureHeaders.target]: pair.owner.id,
    [refusalHeader]: 'not_held',
  }
  const { status } = await requestFrom(pair.stranger.url, 'GET', '/api/instances/shop', { token, headers })
  assert.equal(status, 200)
  assert.equal(pair.owner.seen[0]?.route, '/api/instances/:name')
})

describe('a hostile path goes to the same route as without a hop, or to none', () => {
  const paths = [
    '/api/instances/shop/../../internal/look',
    '/api/instances/shop%2f..%2f..%2finternal%2flook',
    '/api/instances/..%2f..%2finternal%2flook/state',
    '/api/instances/shop%00/qr',
    '/api/instances/shop;a/qr',
    '/api/instances/shop%0d%0ax-node-target:a/qr',
    '/api/instances/shop/qr%0d%0a',
    '//api/instances/shop/qr',
    'http://internal/internal/look',
  ]
  for (const path of paths) {
    test(path, async () => {
      await using pair = await startPair()
      const ask = async (url: string) => {
        const head = `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${token}\r\n\r\n`
        return (await sendRaw(url, head)).replace(/^(date|x-request-id): .*\r\n/gim, '')
      }
      const direct = await ask(pair.owner.url)
      assert.equal((await ask(pair.stranger.url)).split('\r\n\r\n')[1], direct.split('\r\n\r\n')[1])
      assert.deepEqual([pair.owner.told, pair.stranger.told], [[], []])
    })
  }
})

test('as many headers as the public listener takes reach the owner', async () => {
  await using pair = await startPair()
  const headers = { 'x-large': 'x'.repeat(15_000) }
  const { status } = await requestFrom(pair.stranger.url, 'GET', '/api/instances/shop', { token, headers })
  assert.equal(status, 200)
  assert.equal(pair.owner.seen[0]?.headers['x-large'], headers['x-large'])
})

test('nodes tell and ask each other', async () => {
  await using pair = await startPair()
  const { peers } = pair.stranger
  assert.deepEqual(await peers.renewed(pair.owner.peer, 5000), { beatAgeMs: 250, watchedMs: 9000 })
  const gone = { id: 'gone-1', address: `http://127.0.0.1:${await freePort()}` }
  for (const view of ownViews) {
    assert.deepEqual(await peers.views([gone, pair.owner.peer], view), [{ node: 'owner-1', view }])
  }
  await peers.look(pair.owner.peer)
  await peers.drain(pair.owner.peer, 'shop')
  await peers.showCode(pair.owner.peer, 'shop', 'inbox 4')
  await peers.settingsChanged(pair.owner.peer)
  assert.deepEqual(pair.owner.told, ['look', 'drain shop', 'code shop inbox 4', 'settings'])
})

test('a node that is gone, or is another one by now, answers nothing, and telling it does not fail', async () => {
  await using pair = await startPair()
  const { peers } = pair.stranger
  const gone = { id: 'gone-1', address: `http://127.0.0.1:${await freePort()}` }
  for (const peer of [gone, { ...pair.owner.peer, id: 'owner-0' }]) {
    assert.equal(await peers.renewed(peer, 5000), undefined)
    await peers.look(peer)
  }
  assert.deepEqual(pair.owner.told, [])
})

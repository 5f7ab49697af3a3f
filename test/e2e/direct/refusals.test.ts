// Bad requests for direct messages: each gets an error that says what to do, and nothing is sent or stored.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { LoopbackServer } from '../../harness/loopback-server.ts'
import { requestRaw } from '../../harness/raw-request.ts'
import { apiToken } from '../../harness/service.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { send, sendToBob, toBob } from './harness/direct-calls.ts'
import type { DirectReply } from './harness/direct-calls.ts'

const hello = { to: toBob, text: 'hello' }
const contact = { name: 'Ana', phone: '+5511777770001' }
const location = { latitude: 1, longitude: 2 }

/** Each request, and what its error names. */
const badRequests: readonly [request: unknown, names: RegExp][] = [
  [{ text: 'hello' }, /to/],
  [{ ...hello, to: 5511888880001 }, /to/],
  [{ ...hello, to: null }, /to/],
  [{ ...hello, to: '' }, /to/],
  [{ ...hello, to: 'Bob' }, /^to .*country code/],
  [{ ...hello, to: '0111' }, /^to .*country code/],
  [{ ...hello, to: '1'.repeat(30) }, /^to .*country code/],
  [{ ...hello, to: 'status@broadcast' }, /^to .*country code/],
  [{ ...hello, to: '5511888880001@example.com' }, /^to .*country code/],
  [{ ...hello, to: '1@s.whatsapp.net' }, /^to .*country code/],
  [{ ...hello, to: '0111888880001@s.whatsapp.net' }, /^to .*country code/],
  [{ ...hello, to: [toBob] }, /to/],
  [{ to: toBob }, /exactly one/],
  [{ ...hello, location }, /exactly one/],
  [{ ...hello, media_url: 'https://files.example/a.png' }, /exactly one/],
  [{ ...hello, text: '' }, /text/],
  [{ ...hello, text: ' \n ' }, /text/],
  [{ ...hello, text: 7 }, /text/],
  [{ ...hello, text: { text: { text: 'hello' } } }, /text/],
  [{ ...hello, text: 'x'.repeat(65_537) }, /text/],
  [{ ...hello, caption: 'look' }, /caption/],
  [{ to: toBob, media_url: 'a.png' }, /media_url/],
  [{ to: toBob, media_url: 'file:///etc/passwd' }, /media_url/],
  [{ to: toBob, media_url: 'data:text/plain,hello' }, /media_url/],
  [{ to: toBob, media_url: ['https://files.example/a.png'] }, /media_url/],
  [{ to: toBob, location: 'here' }, /location/],
  [{ to: toBob, location: { latitude: 91, longitude: 0 } }, /latitude/],
  [{ to: toBob, location: { latitude: '1', longitude: 0 } }, /latitude/],
  [{ to: toBob, location: { latitude: 1 } }, /longitude/],
  [{ to: toBob, contact: { name: 'Ana' } }, /phone/],
  [{ to: toBob, contact: { ...contact, phone: 'unknown' } }, /contact\.phone/],
  [{ to: toBob, contact: { ...contact, name: ' ' } }, /contact\.name/],
  [{ to: toBob, contact: [contact] }, /contact/],
  [{ ...hello, quote: 1 }, /quote/],
  [{ ...hello, quote: '' }, /quote/],
  [{ ...hello, idempotency_key: 1 }, /idempotency_key/],
  [{ ...hello, idempotency_key: '' }, /idempotency_key/],
  [{ ...hello, idempotency_key: 'x'.repeat(129) }, /idempotency_key/],
  [{ ...hello, idempotency_key: 'a\nb' }, /idempotency_key/],
  [{ ...hello, idempotency_key: ['a'] }, /idempotency_key/],
  [[hello], /object/],
  ['"hello"', /object/],
  ['{"to":', /JSON/],
  [`{"to":"${toBob}","text":${'['.repeat(100)}${']'.repeat(100)}}`, /nested/],
]

test('a bad request is refused with 400, names the field and changes nothing', async () => {
  await using world = await AgentWorld.open()
  for (const [request, names] of badRequests) {
    const { status, body, text } = await send(world, request)
    const { error, error_code } = body as DirectReply
    const shown = `${JSON.stringify(request).slice(0, 200)}: ${text}`
    assert.deepEqual([status, error_code], [400, 'SERVICE_BAD_REQUEST'], shown)
    assert.match(error, names, shown)
  }
  const { database } = world.service
  assert.deepEqual(await database.read(database.query.selectFrom('outbox').select('id')), [])
  assert.deepEqual(await database.read(database.query.selectFrom('request_keys').select('request_key')), [])
  assert.equal((await sendToBob(world, { text: 'hello' })).status, 'sent')
})

test('an unknown instance, a missing token, another media type and a body of 100 MB', async () => {
  await using world = await AgentWorld.open()
  assert.equal((await send(world, hello, 'nobody')).status, 404)
  const path = '/api/instances/n0/messages'
  assert.equal((await world.service.request('POST', path, { body: hello, token: null })).status, 401)
  const headers = { 'content-type': 'text/plain' }
  assert.equal((await world.service.request('POST', path, { body: 'hello', headers })).status, 415)
  assert.equal((await world.service.request('GET', path)).status, 405)
  const length = { 'content-type': 'application/json', 'content-length': String(100 * 1024 ** 2) }
  const authorized = { ...length, authorization: `Bearer ${apiToken}` }
  const large = await requestRaw(world.service.url, { method: 'POST', path, headers: authorized, body: '{' })
  assert.equal(large.status, 413)
  assert.deepEqual(world.texts(), [])
})

describe('a file that cannot be fetched', { concurrency: 2 }, () => {
  test('a private address is refused for good, unless it is allowed', async () => {
    await using files = await LoopbackServer.start()
    await using world = await AgentWorld.open()
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '169.254.169.254']) {
      const { error, error_code } = await sendToBob(world, { media_url: `http://${host}:${files.port}/a.png` }, 500)
      assert.equal(error_code, 'SERVICE_MESSAGE_REFUSED')
      assert.match(error, /the file cannot be fetched/)
    }
    assert.equal(files.connections, 0)
    assert.equal((await world.outbox())['failed'], 4)
  })

  test('neither the helpdesk nor a redirect opens a private address', async () => {
    await using secret = await LoopbackServer.start(undefined, { host: '127.0.0.1' })
    const location = secret.url('127.0.0.1', '/secret')
    await using files = await LoopbackServer.start((_, response) => response.writeHead(302, { location }).end())
    await using world = await AgentWorld.open({ environment: { SERVICE_EGRESS_ALLOW: '::1' } })
    await sendToBob(world, { media_url: files.url('[::1]', '/a.png') }, 500)
    await sendToBob(world, { media_url: `${world.helpdesk.facts.url}/rails/active_storage/blobs/1` }, 500)
    assert.deepEqual([files.requests, secret.connections], [1, 0])
  })

  test('a file of 100 MB is refused as too large, and one that does not exist as missing', async () => {
    const chunk = Buffer.alloc(1024 ** 2)
    await using files = await LoopbackServer.start((request, response) => {
      if (request.url === '/none.png') response.writeHead(404).end()
      else sendChunks(response, chunk, 100)
    })
    await using world = await AgentWorld.open({ environment: { SERVICE_EGRESS_ALLOW: '127.0.0.1' } })
    const request = { media_url: files.url('127.0.0.1', '/big.bin') }
    const large = await send(world, { to: toBob, ...request, idempotency_key: 'a' })
    if (large.status === 202) {
      await waitUntil('it has failed', async () => (await world.outbox())['failed'] === 1)
    }
    const { error } = await sendToBob(world, { ...request, idempotency_key: 'a' }, 500)
    assert.match(error, /SERVICE_MEDIA_MAX_BYTES/)
    const missing = await sendToBob(world, { media_url: files.url('127.0.0.1', '/none.png') }, 500)
    assert.match(missing.error, /there is no such file at http:\/\/127\.0\.0\.1/)
    assert.equal(world.bob.messages.length, 0)
  })
})

test('a quote must be a message of the same chat', async () => {
  await using world = await AgentWorld.open()
  const { bob, network, phone } = world
  const group = network.group('Team', bob, [phone])
  const elsewhere = bob.text(group, 'in the group')
  await world.arrived(elsewhere)
  for (const quote of [elsewhere.id, '3EB0NONE']) {
    const { error_code } = await sendToBob(world, { text: 'yes', quote }, 404)
    assert.equal(error_code, 'SERVICE_QUOTE_NOT_FOUND')
  }
  assert.equal((await world.outbox())['pending'], 0)
})

function sendChunks(response: NodeJS.WritableStream, chunk: Buffer, left: number): void {
  if (left === 0) response.end()
  else
    response.write(chunk, () => {
      sendChunks(response, chunk, left - 1)
    })
}

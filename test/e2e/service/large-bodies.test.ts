import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { openDatabase } from '../../../src/storage/database.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { newLocation } from '../../harness/databases.ts'
import { requestFrom } from '../../harness/http-request.ts'
import { silentLog } from '../../harness/logs.ts'
import { ServiceProcess } from '../../harness/service-process.ts'
import { signatureOf } from '../../harness/signed-callback.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const callers = 120
const bytes = 4_900_000
/** All callers share it, so that the test itself stays small. Its last bytes never come. */
const partOfBody = Buffer.alloc(bytes - 100, 'x')
const token = 't'

// /proc tells the peak of the resident memory.
const isLinux = process.platform === 'linux'

type Caller = { path: string; headers?: Record<string, string> }

/** Sends most of a request, waits for the first bytes of an answer, and hangs up. Returns the status; 0 if the call is cut. */
function call(url: string, { path, headers = {} }: Caller): Promise<number> {
  const { hostname, port } = new URL(url)
  const all = { host: 'x', 'content-type': 'application/json', 'content-length': String(bytes), ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
      socket.write(partOfBody)
    })
    socket.on('error', () => undefined)
    socket.once('close', () => {
      resolve(0)
    })
    socket.once('data', (head) => {
      resolve(Number(head.toString().split(' ')[1]))
      socket.destroy()
    })
  })
}

function peakMb({ pid }: ServiceProcess): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

async function callFromAll(service: ServiceProcess, caller: Caller): Promise<{ statuses: number[]; grownMb: number }> {
  const url = await service.ready()
  const before = peakMb(service)
  const statuses = await Promise.all(Array.from({ length: callers }, () => call(url, caller)))
  return { statuses: [...new Set(statuses)].sort(), grownMb: peakMb(service) - before }
}

describe('120 callers with bodies of 4.9 MB and without a credential', { skip: !isLinux }, () => {
  const webhook = '/api/instances/nobody/webhook'
  const forged = { 'x-service-signature': `sha256=${'0'.repeat(64)}` }
  const cases = [
    ['to an unknown instance are refused before they are read', '', { path: webhook }, [404]],
    ['without a signature are refused before they are read', 's', { path: webhook }, [401]],
    ['without a token are refused before they are read', 's', { path: '/api/instances' }, [401]],
    // Six at a time are read and cut, because others wait; the last six end too late, and many find no room in time.
    ['with a forged signature wait for their turn', 's', { path: webhook, headers: forged }, [0, 408, 503]],
  ] as const
  for (const [how, secret, caller, expected] of cases) {
    test(`${how}, and the memory of the service stays small`, async () => {
      await using place = await newLocation('sqlite')
      const environment = { DATABASE_URL: place.url, SERVICE_API_TOKEN: token, HOST: '127.0.0.1' }
      await using service = new ServiceProcess({ ...environment, WEBHOOK_HMAC_SECRET: secret })
      const { statuses, grownMb } = await callFromAll(service, caller)
      // Bodies of 32 MB at most, and used buffers that V8 has not collected yet.
      assert.ok(grownMb < 220, `grew by ${grownMb} MB`)
      assert.deepEqual(statuses, expected)
    })
  }
})

test('slow large bodies of callbacks delay neither small callbacks nor API requests, and give way to large callbacks', async () => {
  await using place = await newLocation('sqlite')
  const environment = { DATABASE_URL: place.url, SERVICE_API_TOKEN: token, HOST: '127.0.0.1' }
  await using service = new ServiceProcess({ ...environment, WEBHOOK_HMAC_SECRET: 's', SERVICE_BODY_LIMIT: '5mb' })
  const url = await service.ready()
  const path = '/api/instances/nobody/webhook'
  const slow = { path, headers: { 'x-service-signature': `sha256=${'0'.repeat(64)}` } }
  const statuses = Array.from({ length: 8 }, () => call(url, slow))
  assert.equal(await Promise.race(statuses), 0, 'two of them give way to the others')
  const request = await requestFrom(url, 'POST', '/api/instances', { body: 'x'.repeat(bytes), token })
  assertRefused(request, 'SERVICE_BAD_REQUEST')
  for (const size of [10, bytes]) {
    const callback = JSON.stringify({ event: 'webwidget_triggered', text: 'x'.repeat(size) })
    const answer = await requestFrom(url, 'POST', path, { body: callback, headers: signatureOf(callback, 's') })
    assertRefused(answer, 'SERVICE_INSTANCE_NOT_FOUND')
  }
  assert.deepEqual([...new Set(await Promise.all(statuses))].sort(), [0, 408])
})

test('large bodies of API requests that fill their room are refused for some seconds, and callbacks keep their room', async () => {
  await using place = await newLocation('sqlite')
  const environment = { DATABASE_URL: place.url, SERVICE_API_TOKEN: token, HOST: '127.0.0.1' }
  await using service = new ServiceProcess({ ...environment, WEBHOOK_HMAC_SECRET: 's', SERVICE_BODY_LIMIT: '5mb' })
  const url = await service.ready()
  const slow = { path: '/api/instances', headers: { authorization: `Bearer ${token}` } }
  let ended = 0
  const statuses = Array.from({ length: 6 }, () => call(url, slow).finally(() => ended++))
  const send = () => requestFrom(url, 'POST', '/api/instances', { body: 'x'.repeat(bytes), token })
  let answer = await send()
  await waitUntil('six bodies are under way', async () => (answer = await send()).status === 503)
  assertRefused(answer, 'SERVICE_OVERLOADED', /large bodies/)
  assert.equal(answer.headers.get('retry-after'), '5')
  const small = await requestFrom(url, 'POST', '/api/instances', { body: 'x', token })
  assertRefused(small, 'SERVICE_BAD_REQUEST')
  const callback = JSON.stringify({ event: 'webwidget_triggered', text: 'x'.repeat(bytes) })
  const headers = signatureOf(callback, 's')
  const called = await requestFrom(url, 'POST', '/api/instances/nobody/webhook', { body: callback, headers })
  assertRefused(called, 'SERVICE_INSTANCE_NOT_FOUND')
  assert.equal(ended, 0, 'no API request gives way to a callback')
  service.send('SIGKILL')
  await Promise.all(statuses)
})

/** Sends requests without a pause until the connection is closed, or so many bytes have left. Resolves to their number. */
function flood(url: string, request: string, maxBytes: number): Promise<number> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const write = () => {
    while (socket.writable && socket.write(request));
    if (socket.bytesWritten > maxBytes) socket.destroy()
  }
  socket.on('error', () => undefined).on('drain', write)
  write()
  return new Promise((resolve) => {
    socket.resume().once('close', () => {
      resolve(socket.bytesWritten)
    })
  })
}

test('one caller that sends small bodies one after the other while the service starts is cut off', async () => {
  await using place = await newLocation('sqlite')
  await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
  await new LeaseStore(database).acquire('another', 60_000)
  await using service = new ServiceProcess({ DATABASE_URL: place.url, SERVICE_API_TOKEN: token, HOST: '127.0.0.1' })
  const { url } = await service.logged('http listening')
  const body = 'x'.repeat(60_000)
  const maxBytes = 20 * 1024 ** 2
  const head = `POST /api/instances/nobody/webhook HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`
  const sentBytes = await flood(String(url), head + body, maxBytes)
  assert.ok(sentBytes < maxBytes, `the service took ${sentBytes} bytes`)
})

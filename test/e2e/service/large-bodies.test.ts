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

const callers = 120
const bytes = 4_900_000
/** All callers share it, so that the test itself stays small. Its last bytes never come. */
const partOfBody = Buffer.alloc(bytes - 100, 'x')
const token = 't'

// /proc tells the peak of the resident memory.
const isLinux = process.platform === 'linux'

type Caller = { path: string; headers?: Record<string, string> }

/** Sends most of a request, waits for the first bytes of an answer, and hangs up. Returns the head of the answer. */
function call(url: string, { path, headers = {} }: Caller): Promise<string> {
  const { hostname, port } = new URL(url)
  const all = { host: 'x', 'content-type': 'application/json', 'content-length': String(bytes), ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
      socket.write(partOfBody)
    })
    socket.on('error', reject)
    socket.once('data', (head) => {
      resolve(head.toString())
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
  const heads = await Promise.all(Array.from({ length: callers }, () => call(url, caller)))
  const statuses = [...new Set(heads.map((head) => Number(head.split(' ')[1])))].sort()
  return { statuses, grownMb: peakMb(service) - before }
}

describe('120 callers with bodies of 4.9 MB and without a credential', { skip: !isLinux }, () => {
  const webhook = '/api/instances/nobody/webhook'
  const forged = { 'x-service-signature': `sha256=${'0'.repeat(64)}` }
  const cases = [
    ['to an unknown instance are refused before they are read', '', { path: webhook }, [404]],
    ['without a signature are refused before they are read', 's', { path: webhook }, [401]],
    ['without a token are refused before they are read', 's', { path: '/api/instances' }, [401]],
    // Six of them are read and end too late; the others find no room in time.
    ['with a forged signature wait for their turn', 's', { path: webhook, headers: forged }, [408, 503]],
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

test('while large bodies fill the memory for bodies, a small callback is answered and a large API request is 503', async () => {
  await using place = await newLocation('sqlite')
  const environment = { DATABASE_URL: place.url, SERVICE_API_TOKEN: token, HOST: '127.0.0.1' }
  await using service = new ServiceProcess({ ...environment, WEBHOOK_HMAC_SECRET: 's', SERVICE_BODY_LIMIT: '5mb' })
  const url = await service.ready()
  const path = '/api/instances/nobody/webhook'
  const large = { path, headers: { 'x-service-signature': `sha256=${'0'.repeat(64)}` } }
  const heads = Array.from({ length: 8 }, () => call(url, large))
  // The calls that found no room are answered before those that are being read.
  assert.match(await Promise.race(heads), /^HTTP\/1\.1 503 .*retry-after: 5/s)
  const small = JSON.stringify({ event: 'webwidget_triggered' })
  const answer = await requestFrom(url, 'POST', path, { body: small, headers: signatureOf(small, 's') })
  assertRefused(answer, 'SERVICE_INSTANCE_NOT_FOUND')
  const refused = await requestFrom(url, 'POST', '/api/instances', { body: 'x'.repeat(bytes), token })
  assertRefused(refused, 'SERVICE_OVERLOADED', /large bodies/)
  assert.equal(refused.headers.get('retry-after'), '5')
  await Promise.all(heads)
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

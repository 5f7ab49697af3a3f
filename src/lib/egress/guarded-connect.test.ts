import assert from 'node:assert/strict'
import type { LookupFunction, Socket } from 'node:net'
import { test } from 'node:test'
import { LoopbackServer } from '../../../test/harness/loopback-server.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { RawServer } from '../../../test/harness/raw-server.ts'
import { waitUntil } from '../../../test/harness/wait-until.ts'
import { systemClock } from '../clock.ts'
import { EgressRefused } from './errors.ts'
import { guardedConnector } from './guarded-connect.ts'
import type { ConnectOptions } from './guarded-connect.ts'

function connect(options: Partial<ConnectOptions>, url: string): { sockets: Set<Socket>; result: Promise<unknown> } {
  const sockets = new Set<Socket>()
  const connector = guardedConnector(
    { clock: systemClock, judge: () => undefined, connectTimeoutMs: 1000, ...options },
    sockets,
  )
  const { hostname, host, protocol, port } = new URL(url)
  const result = new Promise((resolve) => {
    connector({ hostname, host, protocol, port }, (error, socket) => {
      resolve(error ?? socket)
    })
  })
  return { sockets, result }
}

test('a connection to another address than the checked one is dropped before anything is written', async () => {
  await using server = await LoopbackServer.start()
  const asked: string[] = []
  const judge: ConnectOptions['judge'] = (host, addresses) => {
    asked.push(`${host} ${addresses.join()}`)
    return asked.length > 1 ? new EgressRefused(host, '127.0.0.1', 'private') : undefined
  }
  const { sockets, result } = connect({ judge }, server.url('127.0.0.1'))
  assert.ok((await result) instanceof EgressRefused)
  assert.deepEqual(asked, ['127.0.0.1 127.0.0.1', '127.0.0.1 127.0.0.1'])
  assert.ok([...sockets].every((socket) => socket.destroyed))
  assert.equal(server.requests, 0)
})

test('a name without an address and a resolver that fails are errors', async () => {
  const nowhere: LookupFunction = (_host, _options, answer) => {
    answer(null, [])
  }
  const broken: LookupFunction = (_host, _options, answer) => {
    answer(new Error('resolver broken'), [])
  }
  const empty = connect({ lookup: nowhere }, 'http://nobody.example/')
  assert.match(String(await empty.result), /nobody\.example has no address/)
  const failed = connect({ lookup: broken }, 'http://nobody.example/')
  assert.match(String(await failed.result), /resolver broken/)
})

test('a name that never resolves and a handshake that never ends are given up', async () => {
  const clock = new ManualClock()
  const silent = connect({ clock, lookup: () => undefined }, 'http://silent.example/')
  await clock.advance(1000)
  assert.match(String(await silent.result), /no connection after 1000 ms/)

  await using server = await RawServer.start()
  const deaf = connect({ clock }, server.url.replace('http:', 'https:'))
  await waitUntil('the handshake has begun', () => server.received !== '')
  await clock.advance(1000)
  assert.match(String(await deaf.result), /no connection after 1000 ms/)
  await waitUntil('the connection is closed', () => server.sockets.size === 0)
  assert.equal(clock.pending, 0)
})

// The relay of the stage: what passes, what is held back, and what each side hears.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { test } from 'node:test'
import pg from 'pg'
import { migratedLocation, withoutPostgres } from '../../harness/databases.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Relay } from './harness/relay.ts'

/** A server that says everything back, and a relay in front of it. */
async function openEcho(stack: AsyncDisposableStack): Promise<{ relay: Relay; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined)
    socket.on('data', (bytes) => socket.write(bytes))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as AddressInfo
  return { relay: stack.use(await Relay.to({ host: '127.0.0.1', port })), sockets }
}

class Client {
  heard = ''
  isOver = false
  readonly #socket: Socket

  constructor(relay: Relay) {
    this.#socket = connect(relay.port, '127.0.0.1').on('error', () => undefined)
    this.#socket.on('data', (bytes: Buffer) => (this.heard += bytes.toString()))
    this.#socket.on('close', () => (this.isOver = true))
  }

  say(text: string): void {
    this.#socket.write(text)
  }

  hears(text: string): Promise<void> {
    return waitUntil(`the client hears "${text}"`, () => this.heard === text, { instead: () => this.heard })
  }

  ends(): Promise<void> {
    return waitUntil('the client hears the end', () => this.isOver)
  }

  /** Goes without a farewell: the other side hears of it even if it does not read. */
  reset(): void {
    this.#socket.resetAndDestroy()
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }
}

/** Another connection, through another relay, is made and answered. */
async function timeForAnAnswer(stack: AsyncDisposableStack): Promise<void> {
  using other = new Client((await openEcho(stack)).relay)
  other.say('four')
  await other.hears('four')
}

test('a cut is silent for both sides, and healing ends the connections that were cut', async () => {
  await using stack = new AsyncDisposableStack()
  const { relay, sockets } = await openEcho(stack)
  using before = new Client(relay)
  before.say('one')
  await before.hears('one')
  relay.cut()
  before.say('two')
  using during = new Client(relay)
  during.say('three')
  await timeForAnAnswer(stack)
  assert.deepEqual([before.heard, before.isOver, during.heard, during.isOver], ['one', false, '', false])
  assert.equal(sockets.size, 1)
  relay.heal()
  await before.ends()
  await during.ends()
  using after = new Client(relay)
  after.say('five')
  await after.hears('five')
})

test('the server does not hear that a client has gone while the relay is cut', async () => {
  await using stack = new AsyncDisposableStack()
  const { relay, sockets } = await openEcho(stack)
  const client = new Client(relay)
  client.say('one')
  await client.hears('one')
  relay.cut()
  client.reset()
  await client.ends()
  await timeForAnAnswer(stack)
  assert.equal(sockets.size, 1)
  relay.heal()
  await waitUntil('the server hears it', () => sockets.size === 0)
})

test('a closed relay ends old and new connections at once', async () => {
  await using stack = new AsyncDisposableStack()
  const { relay } = await openEcho(stack)
  using before = new Client(relay)
  before.say('one')
  await before.hears('one')
  relay.close()
  await before.ends()
  using during = new Client(relay)
  await during.ends()
  relay.heal()
  using after = new Client(relay)
  after.say('two')
  await after.hears('two')
})

test('a transaction is held before its COMMIT and goes on when it is released', { skip: withoutPostgres }, async () => {
  await using stack = new AsyncDisposableStack()
  const { url } = stack.use(await migratedLocation('postgres'))
  const { hostname, port } = new URL(url)
  const relay = stack.use(await Relay.to({ host: hostname, port: Number(port) }))
  const client = new pg.Client({ connectionString: relay.urlOf(url) })
  const other = new pg.Client({ connectionString: url })
  stack.defer(() => client.end())
  stack.defer(() => other.end())
  await client.connect()
  await other.connect()
  await client.query('CREATE TABLE held (n int)')
  const held = relay.holdAt('COMMIT')
  await client.query('BEGIN')
  await client.query('INSERT INTO held VALUES ($1)', [7])
  const committed = client.query('COMMIT')
  await held
  assert.equal((await other.query('SELECT * FROM held')).rowCount, 0)
  relay.release()
  await committed
  assert.equal((await other.query('SELECT * FROM held')).rowCount, 1)
})

import assert from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { openDatabase } from '../../../src/storage/database.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { newLocation } from '../../harness/databases.ts'
import { silentLog } from '../../harness/logs.ts'
import { ServiceProcess } from '../../harness/service-process.ts'

const health = async (url: string) => (await (await fetch(`${url}/api/health`)).json()) as { status: string }

test('with no configuration at all it serves on loopback and keeps its data to itself', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-'))
  {
    await using service = new ServiceProcess({}, directory)
    const url = await service.ready()
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.equal((await health(url)).status, 'ok')
    const file = join(directory, 'data', 'service.db')
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(statSync(dirname(file)).mode & 0o777, 0o700)
    assert.ok(service.has('the API is open to everybody who can reach it: set SERVICE_API_TOKEN'))
  }
  await rm(directory, { recursive: true })
})

test('a stop signal ends it cleanly and a later start finds everything', async () => {
  await using place = await newLocation('sqlite')
  const environment = { DATABASE_URL: place.url }
  {
    await using service = new ServiceProcess(environment)
    const url = await service.ready()
    const body = JSON.stringify({ downstream_base_url: 'https://a', downstream_api_token: 't' })
    await fetch(`${url}/api/tenants/acme`, { method: 'PUT', headers: { 'content-type': 'application/json' }, body })
    service.send('SIGTERM')
    assert.deepEqual(await service.exited(), { code: 0, signal: null })
    assert.equal(service.errors, '')
    assert.ok(!existsSync(`${place.url.slice('file:'.length)}-wal`), 'the journal was folded in')
  }
  await using again = new ServiceProcess(environment)
  const url = await again.ready()
  assert.ok(!again.has('another process owns the accounts, waiting'), 'the lease was given back')
  assert.equal(((await (await fetch(`${url}/api/tenants`)).json()) as unknown[]).length, 1)
})

test('a second signal ends it at once, even if a request still runs', async () => {
  await using place = await newLocation('sqlite')
  await using service = new ServiceProcess({ DATABASE_URL: place.url })
  const { port, hostname } = new URL(await service.ready())
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  // A request whose body never comes keeps the server from closing.
  socket.write('PUT /api/tenants/a HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n')
  await fetch(`http://${hostname}:${port}/api/health`)
  service.send('SIGINT')
  await service.logged('stopping; a second signal ends at once')
  service.send('SIGTERM')
  assert.deepEqual(await service.exited(), { code: 1, signal: null })
  socket.destroy()
})

test('a wrong setting stops the start, says so and creates nothing', async () => {
  await using place = await newLocation('sqlite')
  await using service = new ServiceProcess({ DATABASE_URL: place.url, LOG_LEVEL: 'loud', SERVICE_DRAIN_RATE: 'x' })
  assert.equal((await service.exited()).code, 1)
  assert.match(service.errors, /LOG_LEVEL=loud: takes trace or debug/)
  assert.match(service.errors, /SERVICE_DRAIN_RATE=x: takes a number/)
  assert.ok(!service.errors.includes('    at '), 'no stack for a mistake in the configuration')
  assert.ok(!existsSync(place.url.slice('file:'.length)))
})

test('a missing encryption key stops the start', async () => {
  await using place = await newLocation('sqlite')
  const key = Buffer.alloc(32, 1).toString('base64')
  {
    await using service = new ServiceProcess({ DATABASE_URL: place.url, SERVICE_ENCRYPTION_KEY: key })
    const url = await service.ready()
    const body = JSON.stringify({ downstream_base_url: 'https://a', downstream_api_token: 't' })
    await fetch(`${url}/api/tenants/acme`, { method: 'PUT', headers: { 'content-type': 'application/json' }, body })
    service.send('SIGTERM')
    await service.exited()
  }
  await using keyless = new ServiceProcess({ DATABASE_URL: place.url })
  assert.equal((await keyless.exited()).code, 1)
  assert.match(keyless.errors, /^SERVICE_ENCRYPTION_KEY does not open .*\n$/)
})

test('a process that loses the lease while it waits for its port ends', async () => {
  await using place = await newLocation('sqlite')
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const { port } = holder.address() as AddressInfo
  await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
  // The owner before did not give the lease back, so it may still hold the port.
  await new LeaseStore(database).acquire('frozen', 500)
  await using service = new ServiceProcess({ DATABASE_URL: place.url, HOST: '127.0.0.1', PORT: String(port) })
  await service.logged('the port is taken, listening when it is free')
  await database.write(database.query.updateTable('lease').set({ owner: 'third', epoch: 1000 }))
  assert.deepEqual(await service.exited(), { code: 1, signal: null })
  assert.match(service.errors, /third owns the accounts of this database/)
  holder.close()
})

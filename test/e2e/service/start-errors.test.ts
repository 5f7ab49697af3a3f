// A start that cannot succeed says why in one sentence, which names the setting and the cure.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import manifest from '../../../package.json' with { type: 'json' }
import { newLocation, withoutPostgres } from '../../harness/databases.ts'
import { ServiceProcess } from '../../harness/service-process.ts'
import { unprivileged, withoutUnprivileged } from '../../harness/unprivileged.ts'

type Environment = Record<string, string>

class Directory {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  static async create(): Promise<Directory> {
    return new Directory(await mkdtemp(join(tmpdir(), 'causeway-')))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true })
  }
}

/** The start ends with this sentence and nothing else on standard error. */
async function assertRefuses(environment: Environment, sentence: string | RegExp, launcher?: readonly string[]) {
  await using service = new ServiceProcess(environment, undefined, undefined, launcher)
  assert.deepEqual(await service.exited(), { code: 1, signal: null })
  const said = service.errors.replace(/\n$/, '')
  assert.ok(!said.includes('\n'), `one line: ${said}`)
  if (typeof sentence === 'string') assert.equal(said, sentence)
  else assert.match(said, sentence)
}

describe('the file of SQLite', { concurrency: 2 }, () => {
  test('a directory that this user may not write is named', { skip: withoutUnprivileged }, async () => {
    await using directory = await Directory.create()
    await chmod(directory.path, 0o555)
    const file = join(directory.path, 'data', 'service.db')
    const cure = 'give that user the right to write there, or name another file'
    const expected = new RegExp(`^DATABASE_URL=file:${file}: user \\S+ may not write ${directory.path}\\S*: ${cure}$`)
    await assertRefuses({ DATABASE_URL: `file:${file}` }, expected, unprivileged)
  })

  test('a file that this user may not write is named', { skip: withoutUnprivileged }, async () => {
    await using directory = await Directory.create()
    await chmod(directory.path, 0o777)
    const file = join(directory.path, 'service.db')
    await writeFile(file, '', { mode: 0o444 })
    const expected = new RegExp(`^DATABASE_URL=file:${file}: user \\S+ may not write ${file}: give that user`)
    await assertRefuses({ DATABASE_URL: `file:${file}` }, expected, unprivileged)
  })

  test('a directory in which SQLite may not create its files is named', { skip: withoutUnprivileged }, async () => {
    await using directory = await Directory.create()
    await chmod(directory.path, 0o777)
    const file = join(directory.path, 'service.db')
    {
      await using service = new ServiceProcess({ DATABASE_URL: `file:${file}` }, undefined, undefined, unprivileged)
      await service.ready()
      service.send('SIGTERM')
      await service.exited()
    }
    await chmod(directory.path, 0o555)
    const beside = `${directory.path}, ${file}-wal or ${file}-shm`
    const expected = new RegExp(`^DATABASE_URL=file:${file}: user \\S+ may not write ${beside}: give that user`)
    await assertRefuses({ DATABASE_URL: `file:${file}` }, expected, unprivileged)
    await chmod(directory.path, 0o777)
  })

  test('a file that is no database is named', async () => {
    await using directory = await Directory.create()
    const file = join(directory.path, 'notes.txt')
    await writeFile(file, 'These are my notes, and not a database at all. '.repeat(100))
    const cure = 'the file is no SQLite database: name another file, or move this one away'
    await assertRefuses({ DATABASE_URL: `file:${file}` }, `DATABASE_URL=file:${file}: ${cure}`)
    assert.match(readFileSync(file, 'utf8'), /^These are my notes/)
  })
})

describe('PostgreSQL', { concurrency: 2, skip: withoutPostgres }, () => {
  test('a wrong password ends the start', async () => {
    await using place = await newLocation('postgres')
    const url = new URL(place.url)
    url.password = 'not-this-one'
    const expected = /^DATABASE_URL: the PostgreSQL at \S+ refuses the password of user \w+: correct user and password;/
    await assertRefuses({ DATABASE_URL: url.href }, expected)
  })

  test('a database that starts after the service is waited for', async () => {
    await using place = await newLocation('postgres')
    const real = new URL(place.url)
    const server = createServer((socket) => {
      const onward = connect(Number(real.port), real.hostname)
      socket.on('error', () => onward.destroy()).pipe(onward)
      onward.on('error', () => socket.destroy()).pipe(socket)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const url = new URL(place.url)
    url.host = `127.0.0.1:${port}`
    await using service = new ServiceProcess({ DATABASE_URL: url.href })
    const { server: named, reason } = await service.logged('waiting for the database')
    assert.deepEqual([named, reason], [`127.0.0.1:${port}`, 'ECONNREFUSED'])
    server.listen(port, '127.0.0.1')
    await service.ready()
    assert.equal(service.allLogged('waiting for the database').length, 1)
    service.send('SIGTERM')
    assert.deepEqual(await service.exited(), { code: 0, signal: null })
    server.close()
  })

  test('a stop signal ends the wait for a database', async () => {
    await using service = new ServiceProcess({ DATABASE_URL: 'postgres://u:p@127.0.0.1:9/d' })
    await service.logged('waiting for the database')
    service.send('SIGTERM')
    assert.deepEqual(await service.exited(), { code: 0, signal: null })
    assert.equal(service.errors, '')
  })
})

describe('the listener', { concurrency: 2 }, () => {
  test('a port that another Causeway holds is named with its version', async () => {
    await using first = await newLocation('sqlite')
    await using second = await newLocation('sqlite')
    await using holder = new ServiceProcess({ DATABASE_URL: first.url })
    const { port } = new URL(await holder.ready())
    const cure = 'which answers there: stop that process, or set another PORT'
    const sentence = `PORT=${port} on 127.0.0.1 is taken by Causeway ${manifest.version}, ${cure}`
    await assertRefuses({ DATABASE_URL: second.url, PORT: port }, sentence)
  })

  const firstFree = process.platform === 'linux' ? '/proc/sys/net/ipv4/ip_unprivileged_port_start' : undefined
  const isPortFree = firstFree !== undefined && Number(readFileSync(firstFree, 'utf8')) <= 1

  test('a port below 1024 is named', { skip: withoutUnprivileged || isPortFree }, async () => {
    await using directory = await Directory.create()
    await chmod(directory.path, 0o777)
    const cure = 'set PORT to 1024 or more and put a proxy in front, or grant CAP_NET_BIND_SERVICE'
    const expected = new RegExp(`^PORT=1 is below 1024 and not allowed for user \\S+: ${cure}$`)
    await assertRefuses({ DATABASE_URL: `file:${directory.path}/service.db`, PORT: '1' }, expected, unprivileged)
  })
})

test('a missing file of certificates is named', async () => {
  await using place = await newLocation('sqlite')
  const cure = 'the file cannot be read (ENOENT): name a file that this user may read, or remove the setting'
  await assertRefuses(
    { DATABASE_URL: place.url, SERVICE_NETWORK_CA: '/nowhere/ca.pem' },
    `SERVICE_NETWORK_CA=/nowhere/ca.pem: ${cure}`,
  )
})

// `npm start` under a supervisor: signals to npm reach the service, and no service outlives its npm.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { openDatabase } from '../../../src/storage/database.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { silentLog } from '../../harness/logs.ts'
import { newLocation } from '../../harness/databases.ts'
import type { TestLocation } from '../../harness/databases.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { ServiceProcess } from '../../harness/service-process.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const graceMs = 1500
// Without its banner: standard output holds the log and nothing else.
const command = ['npm', 'start', '--silent']

let npmFiles = ''

/** Keeps npm from touching the files of the person who runs the tests. */
const npmEnvironment = () => ({ npm_config_cache: npmFiles, npm_config_update_notifier: 'false' })

/** A world whose service runs under npm. */
class NpmWorld {
  readonly #world: ProcessWorld
  readonly service: ServiceProcess
  readonly place: TestLocation
  /** The service itself, the child of npm. */
  readonly servicePid: number

  private constructor(world: ProcessWorld) {
    this.#world = world
    this.service = world.service
    this.place = world.place
    this.servicePid = Number(execFileSync('pgrep', ['-P', String(world.service.pid)], { encoding: 'utf8' }))
  }

  static async open(): Promise<NpmWorld> {
    const environment = { ...npmEnvironment(), SERVICE_SHUTDOWN_GRACE: `${graceMs}ms` }
    const world = await ProcessWorld.open({ command, environment })
    await waitUntil('the account is online', () => world.service.reached('ready'))
    return new NpmWorld(world)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      // Only a test that has failed leaves the service behind.
      process.kill(this.servicePid, 'SIGKILL')
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH')
    }
    await this.#world[Symbol.asyncDispose]()
  }
}

async function assertStoppedInOrder(service: ServiceProcess, place: TestLocation): Promise<void> {
  assert.ok(service.has('stopping; a second signal ends at once'))
  await assert.rejects(fetch(await service.ready()), 'the port is free')
  await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
  assert.equal((await new LeaseStore(database).holder())?.isReleased, true, 'the lease was given back')
}

describe('npm start', { concurrency: 2, skip: process.platform === 'win32' }, () => {
  before(async () => {
    npmFiles = await mkdtemp(join(tmpdir(), 'causeway-npm-'))
  })
  after(async () => {
    await rm(npmFiles, { recursive: true, force: true })
  })

  test('SIGTERM to npm alone stops the service in order, and npm waits for it', async () => {
    await using world = await NpmWorld.open()
    const { service, place } = world
    const sentAt = performance.now()
    service.send('SIGTERM')
    assert.deepEqual(await service.exited(), { code: 0, signal: null })
    assert.ok(performance.now() - sentAt >= graceMs, 'the grace was kept')
    assert.equal(service.errors, '')
    await assertStoppedInOrder(service, place)
  })

  test('a supervisor that signals every process asks for one stop, not for two', async () => {
    await using world = await NpmWorld.open()
    const { service, place, servicePid } = world
    const sentAt = performance.now()
    process.kill(servicePid, 'SIGTERM')
    service.send('SIGTERM')
    assert.deepEqual(await service.exited(), { code: 0, signal: null })
    assert.ok(performance.now() - sentAt >= graceMs, 'the grace was kept')
    await assertStoppedInOrder(service, place)
  })

  test('the service stops in order when npm is killed', async () => {
    await using world = await NpmWorld.open()
    const { service, place } = world
    service.send('SIGKILL')
    // The exit is known when the last process with this standard output has ended.
    assert.deepEqual(await service.exited(), { code: null, signal: 'SIGKILL' })
    assert.match(service.errors, /^the process that started the service has ended, so the service stops\n$/)
    await assertStoppedInOrder(service, place)
  })

  test('a stop that has begun goes on when npm is killed', async () => {
    await using world = await NpmWorld.open()
    const { service, place } = world
    const sentAt = performance.now()
    service.send('SIGINT')
    await service.logged('stopping; a second signal ends at once')
    service.send('SIGKILL')
    assert.deepEqual(await service.exited(), { code: null, signal: 'SIGKILL' })
    assert.ok(performance.now() - sentAt >= graceMs, 'the grace was kept')
    await assertStoppedInOrder(service, place)
  })

  test('the service goes on when the shell that started npm in the background has ended', async () => {
    await using place = await newLocation('sqlite')
    const shell = `${command.join(' ')} & printf '{"msg":"npm runs","pid":%d}\\n' $!`
    await using service = new ServiceProcess(
      { DATABASE_URL: place.url, ...npmEnvironment() },
      undefined,
      [],
      ['sh', '-c', shell],
    )
    const { pid } = await service.logged('npm runs')
    await service.ready()
    // Longer than the pause between two looks at the parent.
    await waitUntil('it has run for 3 s', async () => {
      const { body } = await service.get('/api/health')
      return (body as { uptime_seconds: number }).uptime_seconds >= 3
    })
    assert.ok(!service.has('stopping; a second signal ends at once'))
    process.kill(Number(pid), 'SIGTERM')
    await service.exited()
    await assertStoppedInOrder(service, place)
  })
})

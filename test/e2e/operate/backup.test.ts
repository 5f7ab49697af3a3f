// Backups over the API: made while messages flow, one at a time, the newest seven kept, and a clear sentence for each failure.

import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { thisMachine } from '../../../src/setup/checks/machine.ts'
import { CliProcess } from '../../cli/harness/cli-process.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { withoutPostgres } from '../../harness/databases.ts'
import type { Answer } from '../../harness/http-request.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { Service } from '../../harness/service.ts'
import type { ServiceOptions } from '../../harness/service.ts'

type Backup = { path: string; bytes: number; made_at: string }

async function setUp(options: ServiceOptions = {}) {
  const service = await Service.start(options)
  const folder = join(dirname(service.databasePath), 'backups')
  const ask = () => service.request('POST', '/api/backup')
  const list = async () => {
    const listed = (await service.get('/api/backups')).body as { backups: Backup[]; making_since: string | null }
    assert.equal(listed.making_since, null)
    return listed.backups
  }
  return { service, folder, ask, list, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() }
}

function made({ status, body, text }: Answer): Backup {
  assert.equal(status, 200, text)
  return body as Backup
}

const nameAt = (time: string) => `service-${time.replace(/[:.]/g, '-')}.db`

describe('a backup over the API', { concurrency: 3 }, () => {
  test('is a whole database that only its owner may read; it is listed and audited', async () => {
    await using stage = await setUp()
    const { service, folder, ask, list } = stage
    assert.deepEqual(await list(), [])
    const backup = made(await ask())
    assert.equal(dirname(backup.path), folder)
    assert.equal(basename(backup.path), nameAt(backup.made_at))
    const { mode, size } = statSync(backup.path)
    assert.deepEqual([mode & 0o777, size], [0o600, backup.bytes])
    assert.equal(statSync(folder).mode & 0o777, 0o700)
    assert.deepEqual(await list(), [backup])
    using database = new DatabaseSync(backup.path, { readOnly: true })
    assert.deepEqual(database.prepare('SELECT backup_at FROM lease').get()?.['backup_at'], Date.parse(backup.made_at))
    const { entries } = (await service.get('/api/audit')).body as { entries: Record<string, unknown>[] }
    assert.partialDeepStrictEqual(entries[0], { actor: 'api', action: 'backup.make', target: backup.path })
  })

  test('has what was committed while messages flowed; restored, every message is there once', async () => {
    await using world = await AgentWorld.open()
    const { location, url } = world.place
    assert.ok(location.engine === 'sqlite')
    const people = Array.from({ length: 5 }, (_, n) => world.network.person({ phone: `551198888000${n}` }))
    const texts: string[] = []
    const writeAll = (what: string) => {
      for (const [n, person] of people.entries()) {
        texts.push(`${what} of ${n}`)
        person.text(world.phone, `${what} of ${n}`)
      }
    }
    const arrives = (text: string) =>
      world.helpdesk.waitForMessage(undefined, ({ content }) => content === text, 60_000)
    for (let round = 0; round < 4; round++) writeAll(`before ${round}`)
    for (const text of texts) await arrives(text)
    await world.drained()
    const asked = world.service.request('POST', '/api/backup')
    for (let round = 0; round < 4; round++) writeAll(`during ${round}`)
    const { path } = made(await asked)
    writeAll('after')
    // A message that comes after the look at the inbox could be stored and not posted. The restored database does not have it.
    for (const text of texts) await arrives(text)
    await world.drained()
    await world.stop()
    const { code, errors } = await CliProcess.run('restore', [path, '--yes'], { DATABASE_URL: url })
    assert.deepEqual([code, errors], [0, ''])
    using restored = new DatabaseSync(location.path, { readOnly: true })
    const kept = restored.prepare('SELECT count(*) AS count FROM message_map').get()?.['count']
    assert.ok(Number(kept) >= 20, `${String(kept)} messages from before the backup are in it`)
    await world.restart()
    await world.drained()
    writeAll('last')
    for (const text of texts) await arrives(text)
    await world.drained()
    const arrived = world.helpdesk.messages().flatMap(({ content }) => (texts.includes(content ?? '') ? [content] : []))
    assert.deepEqual(arrived.sort(), texts.sort())
  })

  test('is made once at a time', async () => {
    await using stage = await setUp()
    const answers = await Promise.all([stage.ask(), stage.ask(), stage.ask()])
    const refused = answers.filter(({ status }) => status !== 200)
    assert.equal(refused.length, 2)
    for (const answer of refused) assertRefused(answer, 'SERVICE_BACKUP_RUNNING', /wait until it is complete/)
    made(await stage.ask())
    assert.equal((await stage.list()).length, 2)
  })

  test('replaces the oldest of seven, and touches no other file', async () => {
    const clock = new ManualClock()
    await using stage = await setUp({ clock })
    const { folder, ask, list } = stage
    mkdirSync(folder)
    const old = Array.from({ length: 8 }, (_, n) => nameAt(`2020-01-0${n + 1}T00:00:00.000Z`))
    const others = ['notes.txt', 'service-mine.db', 'other-2020-01-01T00-00-00-000Z.db']
    for (const name of [...old, ...others]) writeFileSync(join(folder, name), 'x')
    const backup = made(await ask())
    assert.deepEqual(
      (await list()).map(({ path }) => basename(path)),
      [basename(backup.path), ...old.slice(2).reverse()],
    )
    assert.deepEqual(
      readdirSync(folder).filter((name) => others.includes(name)),
      others.toSorted(),
    )
    // The clock of the test stands still. The next backup has another name.
    assert.notEqual(made(await ask()).path, backup.path)
  })

  test('stays when the clock was put back since the others were made', async () => {
    await using stage = await setUp()
    const { folder, ask } = stage
    mkdirSync(folder)
    for (let n = 1; n <= 7; n++) writeFileSync(join(folder, nameAt(`2099-01-0${n}T00:00:00.000Z`)), 'x')
    const backup = made(await ask())
    assert.equal(statSync(backup.path).size, backup.bytes)
    assert.equal(readdirSync(folder).length, 7)
  })

  test('removes what a crash left of an earlier one', async () => {
    await using stage = await setUp()
    const { folder, ask } = stage
    mkdirSync(folder)
    const left = `${nameAt('2020-01-01T00:00:00.000Z')}.0123abcd.part`
    for (const name of [left, `${left}-journal`, 'mine.part']) writeFileSync(join(folder, name), 'x')
    const backup = made(await ask())
    assert.deepEqual(readdirSync(folder).sort(), ['mine.part', basename(backup.path)].sort())
  })
})

describe('a backup that cannot be made', { concurrency: 3 }, () => {
  test('on a disk without room says how much is needed, and writes nothing', async () => {
    const machine = { ...thisMachine, freeBytes: () => Promise.resolve(100 * 1024 * 1024) }
    await using stage = await setUp({ machine })
    assertRefused(
      await stage.ask(),
      'SERVICE_BACKUP_FAILED',
      /has 100 MB free, and the backup needs 1\d\d MB: make room/,
    )
    assert.deepEqual(readdirSync(stage.folder), [])
  })

  test('because the folder is a file, or cannot be written, names the folder; the next one works', async () => {
    await using stage = await setUp({ machine: { ...thisMachine, freeBytes: () => Promise.resolve(Infinity) } })
    const { folder, ask } = stage
    writeFileSync(folder, 'x')
    assertRefused(
      await ask(),
      'SERVICE_BACKUP_FAILED',
      /backups cannot be written by user \S+ \(\w+\): check the directory/,
    )
    rmSync(folder)
    // Not even root can write there.
    symlinkSync('/proc', folder)
    assertRefused(await ask(), 'SERVICE_BACKUP_FAILED', /cannot be written to \S+backups.*\(\w+\): check the directory/)
    rmSync(folder)
    made(await ask())
  })

  test('with PostgreSQL is refused, names pg_dump, and the list is empty', { skip: withoutPostgres }, async () => {
    await using stage = await setUp({ engine: 'postgres' })
    assertRefused(await stage.ask(), 'SERVICE_NOT_EMBEDDED', /pg_dump/)
    assert.deepEqual(await stage.list(), [])
  })

  test('needs the token', async () => {
    await using stage = await setUp()
    for (const [method, path] of [
      ['POST', '/api/backup'],
      ['GET', '/api/backups'],
    ] as const) {
      assertRefused(await stage.service.request(method, path, { token: null }), 'SERVICE_UNAUTHORIZED')
    }
    assert.ok(!readdirSync(dirname(stage.folder)).includes('backups'))
  })
})

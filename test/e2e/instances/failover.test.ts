// The owner stands still or dies in the middle of its writes, and the standby takes over.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '../../../src/storage/database.ts'
import type { Database } from '../../../src/storage/database.ts'
import { engines, newLocation, withoutPostgres } from '../../harness/databases.ts'
import type { TestLocation } from '../../harness/databases.ts'
import { silentLog } from '../../harness/logs.ts'
import { ServiceProcess } from '../../harness/service-process.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const ownerScript = fileURLToPath(new URL('../../harness/owner-process.ts', import.meta.url))
const waiting = 'another process owns the accounts, waiting'
const notAsked = 'the lease could not be asked for'

async function writingOwner(place: TestLocation): Promise<ServiceProcess> {
  const owner = new ServiceProcess({}, undefined, [ownerScript, place.url])
  await owner.logged('writing')
  return owner
}

async function standbyOf(place: TestLocation, environment: Record<string, string> = {}): Promise<ServiceProcess> {
  const standby = new ServiceProcess({ DATABASE_URL: place.url, ...environment })
  await standby.logged(waiting)
  return standby
}

/** What the owner has written so far. */
async function writtenIn(place: TestLocation): Promise<unknown[]> {
  await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
  return await database.read(database.query.selectFrom('first_callbacks').selectAll().orderBy('destination'))
}

/** Stops the owner while it holds the write lock of SQLite. */
async function stopInsideTransaction(owner: ServiceProcess, place: TestLocation): Promise<void> {
  using other = new DatabaseSync(place.url.slice('file:'.length), { timeout: 500 })
  await waitUntil('the owner is stopped with the lock', () => {
    owner.send('SIGSTOP')
    try {
      other.exec('BEGIN IMMEDIATE; ROLLBACK')
    } catch {
      return true
    }
    owner.send('SIGCONT')
    return false
  })
}

/** A busy machine may need longer for the start than the lease of SQLite runs. */
async function prolongLease(place: TestLocation): Promise<void> {
  await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
  await database.write({ sql: 'UPDATE lease SET expires_at = expires_at + 3600000', parameters: [] })
}

/** How long it takes until the process is the only living node. Afterwards a busy machine may need longer until it serves. */
async function msUntilOwner({ pid }: ServiceProcess, database: Database): Promise<number> {
  const since = performance.now()
  const living = database.query.selectFrom('nodes').select('name').where('state', '<>', 'dead')
  const isOwner = async () => {
    const nodes = await database.read(living)
    return nodes.length > 0 && nodes.every(({ name }) => name.includes(`pid ${pid} `))
  }
  await waitUntil('the standby owns the accounts', isOwner, { instead: () => pid })
  return performance.now() - since
}

describe('the owner stands still while ten writers write', { concurrency: 3 }, () => {
  test(
    'on PostgreSQL the standby takes over within 7 s, and the old owner writes nothing more',
    { skip: withoutPostgres },
    async () => {
      await using place = await newLocation('postgres')
      await using owner = await writingOwner(place)
      await using standby = await standbyOf(place)
      await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
      owner.send('SIGSTOP')
      const tookMs = await msUntilOwner(standby, database)
      assert.ok(tookMs < 7000, `took ${tookMs} ms`)
      await standby.ready()
      const before = await writtenIn(place)
      owner.send('SIGCONT')
      assert.equal((await owner.exited()).code, 1)
      assert.match(owner.errors, new RegExp(`pid ${standby.pid} .*owns the accounts`))
      assert.deepEqual(await writtenIn(place), before)
    },
  )

  test('on SQLite the standby waits for the lock of the stopped owner, and one of them goes on', async () => {
    await using place = await newLocation('sqlite')
    await using owner = await writingOwner(place)
    await using standby = await standbyOf(place)
    await stopInsideTransaction(owner, place)
    await standby.logged(notAsked)
    const health = await fetch(`${String((await standby.logged('http listening'))['url'])}/api/health`)
    assert.equal(((await health.json()) as { checks: { ownership: string } }).checks.ownership, 'standby')
    const before = await writtenIn(place)
    owner.send('SIGCONT')
    const ownerGoesOn = async () => JSON.stringify(await writtenIn(place)) !== JSON.stringify(before)
    await waitUntil('one of them goes on', async () => standby.has('service ready') || (await ownerGoesOn()))
    // The owner may have renewed its lease before the standby got the lock.
    if (!standby.has('service ready')) owner.send('SIGKILL')
    await standby.ready()
    await owner.exited()
  })

  test('on SQLite a standby that starts while the owner stands still waits for it', async () => {
    await using place = await newLocation('sqlite')
    await using owner = await writingOwner(place)
    await stopInsideTransaction(owner, place)
    await using standby = new ServiceProcess({ DATABASE_URL: place.url })
    await standby.logged('http listening')
    assert.equal(String((await standby.logged(notAsked))['holder']).includes(`pid ${owner.pid} `), true)
    owner.send('SIGKILL')
    await standby.ready()
  })
})

// Side by side: most of the time is spent waiting for processes that start and that stand still.
describe('the next process', { concurrency: 2 }, () => {
  for (const engine of engines) {
    test(`a killed process does not keep the next start waiting, ${engine}`, async () => {
      await using place = await newLocation(engine)
      const environment = { DATABASE_URL: place.url }
      await using first = new ServiceProcess(environment)
      await first.ready()
      first.send('SIGKILL')
      await first.exited()
      if (engine === 'sqlite') await prolongLease(place)
      await using second = new ServiceProcess(environment)
      await second.ready()
      assert.ok(!second.has(waiting), 'it waited')
    })

    test(`on one port the standby serves after the owner stood still for 8 s, ${engine}`, async () => {
      await using place = await newLocation(engine)
      await using first = new ServiceProcess({ DATABASE_URL: place.url })
      const { port } = new URL(await first.ready())
      await using second = await standbyOf(place, { PORT: port })
      first.send('SIGSTOP')
      await second.logged('the port is taken, listening when it is free')
      first.send('SIGCONT')
      assert.equal((await first.exited()).code, 1)
      const url = await second.ready()
      assert.equal(new URL(url).port, port)
      assert.equal((await fetch(`${url}/api/tenants`)).status, 200)
    })
  }
})

for (const engine of engines) {
  test(`a lease from a clock that was an hour ahead is not waited for, ${engine}`, async () => {
    await using place = await newLocation(engine)
    {
      await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
      const expires_at = Date.now() + 3_600_000
      await database.write(
        database.query.insertInto('lease').values({ name: 'service', owner: 'elsewhere pid 7', epoch: 1, expires_at }),
      )
    }
    await using service = new ServiceProcess({ DATABASE_URL: place.url })
    await service.logged(waiting)
    await service.ready()
    await waitUntil('it serves', async () => (await service.get('/api/tenants')).status === 200)
  })
}

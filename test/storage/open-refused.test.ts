// A database that cannot be opened: the reason is one sentence, which names the setting and the cure.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import type { DatabaseLocation } from '../../src/core/database-location.ts'
import { StartError } from '../../src/lib/start-error.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { newLocation, onServer, withoutPostgres } from '../harness/databases.ts'
import { silentLog } from '../harness/logs.ts'

/** The sentence with which the opening ends. */
async function refusal(location: DatabaseLocation): Promise<string> {
  const opened = openDatabase({ location, encryptionKeys: [], log: silentLog })
  const error = await opened.then(
    (database) => database[Symbol.asyncDispose](),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof StartError, `a sentence, not ${String(error)}`)
  return error.message
}

describe('SQLite', () => {
  const inDirectory = async (work: (directory: string) => Promise<void>) => {
    const directory = await mkdtemp(join(tmpdir(), 'causeway-'))
    await work(directory)
    await rm(directory, { recursive: true })
  }
  const refusalOf = (path: string) => refusal({ engine: 'sqlite', path })

  test('a directory in place of the file is named', () =>
    inDirectory(async (directory) => {
      const cure = `this is a directory: name a file in it, for example file:${directory}/service.db`
      assert.equal(await refusalOf(directory), `DATABASE_URL=file:${directory}: ${cure}`)
    }))

  test('a file in place of the directory is named', () =>
    inDirectory(async (directory) => {
      const parent = join(directory, 'data')
      await writeFile(parent, '')
      for (const path of [join(parent, 'service.db'), join(parent, 'deep', 'service.db')]) {
        assert.match(await refusalOf(path), /: a part of \S+ is a file: name a path through directories$/)
      }
    }))

  test('a database of a newer build is left alone', () =>
    inDirectory(async (directory) => {
      const path = join(directory, 'service.db')
      {
        using database = new DatabaseSync(path)
        database.exec('CREATE TABLE schema_version (version BIGINT PRIMARY KEY, name TEXT, applied_at BIGINT)')
        database.exec("INSERT INTO schema_version VALUES (9999, 'future', 0)")
      }
      const cure = 'start the newer build again, or restore a backup made before the upgrade'
      const sentence = new RegExp(`^the database has schema version 9999 and this build knows \\d+: ${cure}$`)
      assert.match(await refusalOf(path), sentence)
    }))
})

describe('PostgreSQL', { skip: withoutPostgres }, () => {
  const refusalOf = (url: string, change: (url: URL) => void) => {
    const copy = new URL(url)
    change(copy)
    return refusal({ engine: 'postgres', url: copy.href })
  }

  test('a wrong password is named, and not shown', async () => {
    await using place = await newLocation('postgres')
    const { host, username } = new URL(place.url)
    const sentence = await refusalOf(place.url, (url) => (url.password = 'not-this-one'))
    const cure = 'correct user and password; write special characters as %XX'
    assert.ok(
      sentence.startsWith(
        `DATABASE_URL: the PostgreSQL at ${host} refuses the password of user ${username}: ${cure} (`,
      ),
    )
    assert.ok(!sentence.includes('not-this-one'))
  })

  test('a database that does not exist is named', async () => {
    await using place = await newLocation('postgres')
    const sentence = await refusalOf(place.url, (url) => (url.pathname = '/nowhere'))
    const cure = 'has no database nowhere: create it, or correct the name ('
    assert.ok(sentence.startsWith(`DATABASE_URL: the PostgreSQL at ${new URL(place.url).host} ${cure}`))
  })

  test('a role that does not exist is named', async () => {
    await using place = await newLocation('postgres')
    const sentence = await refusalOf(place.url, (url) => (url.username = 'causeway_stranger'))
    assert.match(
      sentence,
      /^DATABASE_URL: the PostgreSQL at \S+ (refuses the password of|does not let) user causeway_stranger/,
    )
  })

  test('a role that may not create tables is named', async () => {
    // Roles belong to the server, which other runs may share.
    const role = `causeway_${randomBytes(6).toString('hex')}`
    await using place = await newLocation('postgres')
    await onServer(`CREATE ROLE ${role} LOGIN PASSWORD 'p'`)
    const sentence = await refusalOf(place.url, (url) => {
      url.username = role
      url.password = 'p'
    })
    await onServer(`DROP ROLE ${role}`)
    const { host, pathname } = new URL(place.url)
    const cure = `create tables in ${pathname.slice(1)}: make that role the owner of the database (`
    assert.ok(sentence.startsWith(`DATABASE_URL: the PostgreSQL at ${host} does not let user ${role} ${cure}`))
  })

  test('a newer database is left alone', async () => {
    await using place = await newLocation('postgres')
    await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
    const sql = "INSERT INTO schema_version (version, name, applied_at) VALUES (9999, 'future', 0)"
    await database.write({ sql, parameters: [] })
    assert.match(await refusal(place.location), /^the database has schema version 9999 and this build knows \d+: start/)
  })
})

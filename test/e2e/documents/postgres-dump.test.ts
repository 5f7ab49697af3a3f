// The commands of docs/backup.md for PostgreSQL dump and restore a real database. They need a pg_dump that is not older than the
// server.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import pg from 'pg'
import { commandsIn } from '../../harness/document-commands.ts'
import { newLocation, withoutPostgres } from '../../harness/databases.ts'
import { DocumentShell } from '../../harness/document-shell.ts'
import { Service } from '../../harness/service.ts'

const message = 'the database comes from a backup: messages that wait in it are not sent again'
const commandsOf = (section: string) => commandsIn('docs/backup.md').filter((each) => each.section === section)

test(
  'a dump brings the instances back, and the service knows that it was restored',
  { skip: withoutPostgres },
  async (t) => {
    await using place = await newLocation('postgres')
    const client = majorOf(spawnSync('pg_dump', ['--version'], { encoding: 'utf8' }).stdout)
    const server = await serverVersion(place.url)
    if (client < server) {
      t.skip(`pg_dump ${server} or newer: not installed here`)
      return
    }
    await using shell = await DocumentShell.open({ environment: { DATABASE_URL: place.url } })
    const follow = async (section: string) => {
      for (const { text } of commandsOf(section)) await shell.run(text)
    }
    {
      await using service = await Service.start({ place })
      assert.equal((await service.request('POST', '/api/instances', { body: { name: 'shop' } })).status, 201)
      await follow('PostgreSQL')
      assert.equal((await service.request('DELETE', '/api/instances/shop')).status, 200)
    }
    await follow('A dump of PostgreSQL')
    await using restored = await Service.start({ place })
    assert.equal((await restored.get('/api/instances/shop')).status, 200)
    assert.equal(restored.logs.withMessage(message).length, 1)
  },
)

async function serverVersion(connectionString: string): Promise<number> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
    return majorOf(rows[0]?.server_version)
  } finally {
    await client.end()
  }
}

/** 0 when there is no such program. */
function majorOf(text: string | undefined): number {
  return Number(/\d+/.exec(text ?? '')?.[0] ?? 0)
}

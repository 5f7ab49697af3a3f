// Makes backups of a running service and restores them with the programs of the terminal.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { writeReason } from '../../src/core/reasons/reason.ts'
import { AgentWorld } from '../harness/agent-world.ts'
import { unprivileged, withoutUnprivileged } from '../harness/unprivileged.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { CliProcess } from './harness/cli-process.ts'

async function setUp() {
  const world = await AgentWorld.open()
  const { location, url } = world.place
  assert.ok(location.engine === 'sqlite')
  const { path } = location
  const file = join(path, '..', '..', 'backup.db')
  const backup = (...args: string[]) => CliProcess.run('backup', [file, ...args], { DATABASE_URL: url })
  const restore = (...args: string[]) => CliProcess.run('restore', [file, ...args], { DATABASE_URL: url })
  return { world, path, file, backup, restore, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

type Stage = Awaited<ReturnType<typeof setUp>>

/** The service stops, the backup takes the place of its database, and the service starts again. */
async function restoreNow({ world, restore, path }: Stage, { isNoted = true } = {}): Promise<void> {
  await world.stop()
  const { code, output, errors } = await restore('--yes')
  assert.deepEqual([code, errors], [0, ''], output)
  assert.match(output, /ratchets/)
  assert.match(output, /The database that was there is now .*service\.db\.before-/)
  if (!isNoted) {
    using database = new DatabaseSync(path)
    database.exec('UPDATE lease SET backup_at = NULL')
  }
  await world.restart()
}

/** Two messages of the agent wait when the backup is made. They are sent after it, and a third one is accepted. */
async function sentAfterBackup({ world, backup }: Stage): Promise<number[]> {
  const hello = await world.write('hello')
  await world.received('hello')
  assert.ok(hello > 0)
  // A message whose acknowledgement the connection does not bring would wait, too.
  await waitUntil('it is stored as sent', async () => (await world.outbox())['sent'] === 1)
  await world.disconnect()
  const waiting = [await world.write('one'), await world.write('two')]
  await waitUntil('both wait', async () => (await world.outbox())['pending'] === 2)
  assert.equal((await backup()).code, 0)
  await world.reconnect()
  await world.received('two')
  const later = await world.write('three')
  await world.received('three')
  await world.helpdesk.settled()
  return [...waiting, later]
}

const retry = (world: AgentWorld, id: number) =>
  world.agent.post(`/conversations/${world.conversation}/messages/${id}/retry`)

describe('npm run backup and npm run restore', { concurrency: 2 }, () => {
  test('messages that waited in the backup and were sent after it are not sent again', async () => {
    await using stage = await setUp()
    const { world } = stage
    const [one = 0, two = 0, three = 0] = await sentAfterBackup(stage)
    await restoreNow(stage)
    for (const id of [one, two]) {
      const { contentAttributes } = await world.shown(id, ({ status }) => status === 'failed')
      assert.equal(contentAttributes['external_error'], writeReason('restored'))
    }
    // The backup does not know this message, so its change must not look like a Retry of a message that was never accepted.
    await retry(world, three)
    // Bob opens the message at once: it is not sealed with a key of the backup, which was used since.
    world.bob.asksAgain = false
    await world.write('four')
    await world.received('four')
    await world.helpdesk.settled()
    assert.deepEqual(world.texts(), ['hello', 'one', 'two', 'three', 'four'])
    // The agent decides.
    await retry(world, two)
    await waitUntil('the message is sent again', () => world.texts().length === 6)
    assert.equal(world.texts().at(-1), 'two')
  })

  test('without the note of the backup they are sent twice', async () => {
    await using stage = await setUp()
    const { world } = stage
    await sentAfterBackup(stage)
    await restoreNow(stage, { isNoted: false })
    await waitUntil('both are sent again', () => world.texts().filter((text) => text === 'two').length === 2)
    assert.equal(world.texts().filter((text) => text === 'one').length, 2)
  })

  test('received messages are there once, those before, during and after the backup', async () => {
    await using stage = await setUp()
    const { world, file, backup } = stage
    const people = Array.from({ length: 5 }, (_, n) => world.network.person({ phone: `551198888000${n}` }))
    const texts: string[] = []
    const writeAll = (what: string) => {
      for (const [n, person] of people.entries()) {
        texts.push(`${what} of ${n}`)
        person.text(world.phone, `${what} of ${n}`)
      }
    }
    for (let round = 0; round < 4; round++) writeAll(`before ${round}`)
    const making = backup()
    for (let round = 0; round < 4; round++) writeAll(`during ${round}`)
    const { code, output } = await making
    assert.equal(code, 0)
    assert.match(output, /✓ .*backup\.db is a complete and checked backup \(\d+\.\d MB\)\.\n/)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    writeAll('after')
    await world.drained()
    await restoreNow(stage)
    await world.drained()
    // People go on with the sessions that they have. The service asks again for a message that it cannot open.
    writeAll('last')
    for (const text of texts) {
      await world.helpdesk.waitForMessage(undefined, ({ content }) => content === text, 60_000)
    }
    await world.drained()
    const arrived = world.helpdesk.messages().flatMap(({ content }) => (texts.includes(content ?? '') ? [content] : []))
    assert.deepEqual(arrived.sort(), texts.sort())
  })

  test('a database that is in use is not replaced', async () => {
    await using stage = await setUp()
    const { world, backup, restore } = stage
    assert.equal((await backup()).code, 0)
    const { code, errors } = await restore('--yes')
    assert.equal(code, 1)
    assert.match(errors, /^\S+ pid \d+ \(\w+\) uses the database: stop the service first\n$/)
    await world.write('it goes on')
    await world.received('it goes on')
    const again = await backup()
    assert.deepEqual([again.code, again.errors.includes('add --force to replace it')], [1, true])
  })

  test('without a terminal a restore needs --yes', async () => {
    await using stage = await setUp()
    await stage.backup()
    await stage.world.stop()
    const { code, errors, output } = await stage.restore()
    assert.deepEqual([code, errors], [1, 'Nothing was changed: add --yes to restore.\n'])
    assert.match(output, /ratchets/)
  })

  test('a user who may not write the database is told so in one sentence', { skip: withoutUnprivileged }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-readonly-'))
    const [path, file] = [join(folder, 'service.db'), join(folder, 'backup.db')]
    for (const each of [path, file]) {
      using database = new DatabaseSync(each)
      database.exec(
        "CREATE TABLE lease (name, owner, epoch, expires_at); INSERT INTO lease VALUES ('service', '', 1, 0)",
      )
      database.exec('PRAGMA journal_mode = WAL')
      chmodSync(each, 0o444)
    }
    chmodSync(folder, 0o555)
    const [command, ...args] = [...(unprivileged ?? []), process.execPath, 'cli/restore.ts', file, '--yes']
    const env = { PATH: process.env['PATH'] ?? '', DATABASE_URL: `file:${path}` }
    const { status, stderr } = spawnSync(command, args, { env, encoding: 'utf8' })
    chmodSync(folder, 0o755)
    rmSync(folder, { recursive: true })
    assert.match(stderr, /^this user may not write \S+service\.db: run this as the user of the service\n$/)
    assert.equal(status, 1)
  })

  test('a PostgreSQL database is left to its own programs', async () => {
    const environment = { DATABASE_URL: 'postgres://u:p@127.0.0.1:1/x' }
    const made = await CliProcess.run('backup', ['x.db'], environment)
    assert.deepEqual([made.code, made.errors.includes('make the backup with pg_dump')], [1, true])
    const restored = await CliProcess.run('restore', ['x.db'], environment)
    assert.deepEqual([restored.code, restored.errors.includes('restore it with pg_restore')], [1, true])
  })
})

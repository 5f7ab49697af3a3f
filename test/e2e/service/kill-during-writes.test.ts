import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '../../../src/storage/database.ts'
import { InstanceStore } from '../../../src/storage/stores/accounts/instance-store.ts'
import { engines, newLocation } from '../../harness/databases.ts'
import type { TestLocation } from '../../harness/databases.ts'
import { silentLog } from '../../harness/logs.ts'
import { rounds } from '../../harness/rounds.ts'

const kills = rounds({ gate: 4, long: 25 })
const writer = fileURLToPath(new URL('../../harness/writer-process.ts', import.meta.url))

/** The rows the process reported as stored before it was killed at its n-th report. */
function killAtReport(url: string, at: number, mode = ''): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [writer, url, '16', mode], { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    let reports = 0
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      reports += chunk.toString().split('\n').length - 1
      if (reports >= at) child.kill('SIGKILL')
    })
    child.on('error', reject)
    // A line cut off by the kill was never a whole report.
    child.on('close', () => {
      resolve(output.split('\n').slice(0, -1))
    })
  })
}

async function storedNames({ location }: TestLocation): Promise<Set<string>> {
  await using database = await openDatabase({ location, encryptionKeys: [], log: silentLog })
  return new Set((await new InstanceStore(database).list()).map(({ name }) => name))
}

describe('kill -9 during writes', { concurrency: true }, () => {
  for (const engine of engines) {
    test(`loses no acknowledged row in ${kills} rounds on ${engine} and leaves no corruption`, async () => {
      await using place = await newLocation(engine)
      const acknowledged: string[] = []
      for (let round = 0; round < kills; round++) {
        acknowledged.push(...(await killAtReport(place.url, 20 + ((round * 37) % 200))))
      }
      const stored = await storedNames(place)
      assert.deepEqual(
        acknowledged.filter((name) => !stored.has(name)),
        [],
      )
      assert.ok(acknowledged.length >= kills * 20, `${acknowledged.length} rows acknowledged`)
      if (place.location.engine === 'sqlite') assert.equal(integrityOf(place.location.path), 'ok')
    })
  }

  test('the same check finds lost rows when they are acknowledged before they are stored', async () => {
    await using place = await newLocation('sqlite')
    const reported: string[] = []
    for (let round = 0; round < 3; round++) reported.push(...(await killAtReport(place.url, 50, 'early')))
    const stored = await storedNames(place)
    assert.notDeepEqual(
      reported.filter((name) => !stored.has(name)),
      [],
    )
  })
})

function integrityOf(path: string): unknown {
  using database = new DatabaseSync(path)
  return database.prepare('PRAGMA integrity_check').get()?.['integrity_check']
}

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Statement } from './statement.ts'
import { SqliteThread } from './sqlite-thread.ts'

async function openLane() {
  await using stack = new AsyncDisposableStack()
  const directory = stack.adopt(await mkdtemp(join(tmpdir(), 'causeway-')), (path) => rm(path, { recursive: true }))
  const options = { role: 'writer', path: join(directory, 'x.db'), encryptionKeys: [] } as const
  const fatal: Error[] = []
  const lane = stack.use(new SqliteThread(options, (reason) => fatal.push(reason)))
  await lane.opened()
  const owned = stack.move()
  return { lane, fatal, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

const select = (value: unknown): { statements: Statement[] } => ({
  statements: [{ sql: 'SELECT ? AS value', parameters: [value as never] }],
})

test('a batch that cannot be sent to the worker is refused, and the next one succeeds', async () => {
  await using opened = await openLane()
  const { lane, fatal } = opened
  const refused = await Promise.allSettled([lane.run(select(() => 1)), lane.run(select(2))])
  assert.deepEqual(
    refused.map((each) => each.status === 'rejected' && (each.reason as { failure: string }).failure),
    ['failed', 'failed'],
  )
  assert.equal((await lane.run(select(3)))[0]?.rows[0]?.['value'], 3)
  assert.deepEqual(fatal, [])
})

test('jobs above the limit are refused, and those that wait are done', async () => {
  await using opened = await openLane()
  const { lane } = opened
  const jobs = Array.from({ length: 100_001 }, () => lane.run({ statements: [{ sql: 'SELECT 1', parameters: [] }] }))
  await assert.rejects(jobs.at(-1) as Promise<unknown>, { failure: 'unavailable', message: /100000/ })
  const outcomes = await Promise.allSettled(jobs)
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 100_000)
})

test('the thread opens under node --watch, which sends messages of its own over the port', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-'))
  const module = new URL('./sqlite-thread.ts', import.meta.url).href
  const options = { role: 'writer', path: join(directory, 'x.db'), encryptionKeys: [] }
  const script = `import(${JSON.stringify(module)}).then(async ({ SqliteThread }) => {
    await using thread = new SqliteThread(${JSON.stringify(options)}, () => undefined)
    await thread.opened()
  })`
  // What watch mode sets for the process that it watches.
  const env = { ...process.env, WATCH_REPORT_DEPENDENCIES: '1' }
  const { status, stderr } = spawnSync(process.execPath, ['--eval', script], { env })
  await rm(directory, { recursive: true })
  assert.equal(status, 0, String(stderr))
})

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const root = new URL('../../', import.meta.url)

/** Runs a test file the way npm test does, with a PostgreSQL of its own; the exit code. */
async function exitCodeOf(source: string): Promise<number | null> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-'))
  const file = join(directory, 'one.test.ts')
  await writeFile(file, `import { test } from 'node:test'\n${source}\n`)
  // A runner inside a runner would report to the outer one.
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined, TEST_POSTGRES_URL: undefined }
  const setup = '--test-global-setup=test/harness/global-setup.ts'
  const { status } = spawnSync(process.execPath, ['--test', setup, file], { cwd: root, env })
  await rm(directory, { recursive: true })
  return status
}

test('a run with a failing test fails, one without passes', async () => {
  assert.equal(await exitCodeOf(`test('fails', () => { throw new Error('on purpose') })`), 1)
  assert.equal(await exitCodeOf(`test('passes', () => undefined)`), 0)
})

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { describe, test } from 'node:test'

const program = pathToFileURL(resolve('scripts/second-run.ts')).href

type Failing = { times: number; isAllowed?: boolean; files?: number; source?: (path: string, times: number) => string }

/** Runs test files which fail so many times and pass afterwards. */
async function run({ times, isAllowed = true, files = 1, source = failing }: Failing) {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-second-run-'))
  try {
    const paths = Array.from({ length: files }, (_, index) => join(folder, `${index}.test.mjs`))
    for (const path of paths) await writeFile(path, source(path, times))
    await writeFile(join(folder, 'helper.mjs'), helper)
    const [first = ''] = paths
    await writeFile(join(folder, 'crashing.mjs'), crashing(first, times))
    await writeFile(join(folder, 'broken.mjs'), broken)
    const script = `const { runWithSecondChance } = await import('${program}')
      await runWithSecondChance({ files: ${JSON.stringify(paths)} }, ${isAllowed})`
    // A runner refuses to run inside a test while the variable says that it does.
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined, TEST_ENGINES: 'sqlite' }
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { env })
    const ended = new Promise<number | null>((done) => child.once('close', done))
    const [printed] = await Promise.all([text(child.stdout), text(child.stderr)])
    return { code: await ended, printed, runs: (await readFile(`${first}.runs`, 'utf8').catch(() => '')).length }
  } finally {
    await rm(folder, { recursive: true })
  }
}

const failing = (path: string, times: number) => `
  import assert from 'node:assert/strict'
  import { appendFileSync, readFileSync } from 'node:fs'
  import { test } from 'node:test'
  test('it passes', () => {
    appendFileSync('${path}.runs', '.')
    assert.ok(readFileSync('${path}.runs', 'utf8').length > ${times})
  })`

const helper = `
  import { test } from 'node:test'
  export const passes = (work) => test('it passes', work)`

/** Its test stands in another file. */
const failingInHelper = () => `
  import { passes } from './helper.mjs'
  passes(() => { throw new Error('always') })`

const broken = `
  import { test } from 'node:test'
  test('it fails', () => { throw new Error('always') })`

/** Its test fails once, and then the process ends. */
const crashing = (path: string, times: number) => `${failing(path, times)}
  test('the process goes on', async () => {
    if (readFileSync('${path}.runs', 'utf8').length > 1) return
    // The runner needs a moment to hear of the failed test.
    await new Promise((done) => setTimeout(done, 300))
    process.kill(process.pid, 'SIGKILL')
  })`

/** A group of two files. The first file ends the process, so the second one does not run. */
const group = (path: string) =>
  ['crashing', 'broken'].map((name) => `import '${pathToFileURL(join(dirname(path), `${name}.mjs`)).href}'\n`).join('')

describe('a run with a second chance', { concurrency: 2 }, () => {
  test('passes at once when no test fails', async () => {
    const { code, printed, runs } = await run({ times: 0 })
    assert.deepEqual([code, runs], [0, 1], printed)
    assert.doesNotMatch(printed, /Unstable/)
  })

  test('passes when the failed file passes twice alone, and names it', async () => {
    const { code, printed, runs } = await run({ times: 1 })
    assert.deepEqual([code, runs], [0, 3], printed)
    assert.match(printed, /Unstable: [^]*0\.test\.mjs/)
  })

  test('fails when the failed file fails again', async () => {
    const { code, printed, runs } = await run({ times: 2 })
    assert.deepEqual([code, runs], [1, 2], printed)
  })

  test('fails at once when it is not allowed to run a file again', async () => {
    const { code, printed, runs } = await run({ times: 1, isAllowed: false })
    assert.deepEqual([code, runs], [1, 1], printed)
  })

  test('fails when the failed test stands in a helper and fails again', async () => {
    assert.equal((await run({ times: 0, source: failingInHelper })).code, 1)
  })

  test('fails when the rest of a process that has crashed fails', async () => {
    const { code, printed, runs } = await run({ times: 1, source: group })
    assert.deepEqual([code, runs], [1, 2], printed)
    assert.match(printed, /run again alone[^]*crashing\.mjs\n[^]*broken\.mjs/)
  })

  test('fails at once when more than five files failed', async () => {
    const { code, printed, runs } = await run({ times: 1, files: 6 })
    assert.deepEqual([code, runs], [1, 1], printed)
  })
})

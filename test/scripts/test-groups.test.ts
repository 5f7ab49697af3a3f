import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { groupTests, writeGroups } from '../../scripts/test-groups.ts'

const patterns = ['src/**/*.test.ts', 'test/**/*.test.ts']

/** Runs test files with these sources as one group; what the runner prints. */
function runGroup(sources: readonly string[]): { code: number | null; printed: string } {
  const directory = mkdtempSync(join(tmpdir(), 'causeway-'))
  const files = sources.map((source, at) => {
    const path = join(directory, `${at}.test.ts`)
    writeFileSync(path, `import { test } from 'node:test'\n${source}\n`)
    return path
  })
  using groups = writeGroups([files])
  // A runner inside a runner would report to the outer one.
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined }
  const { status, stdout } = spawnSync(process.execPath, ['--test', ...groups.files], { env, encoding: 'utf8' })
  rmSync(directory, { recursive: true })
  return { code: status, printed: stdout }
}

test('every test file is in one group', () => {
  const grouped = groupTests(patterns).flat().sort()
  assert.deepEqual(
    grouped,
    globSync(patterns)
      .map((file) => file.replaceAll('\\', '/'))
      .sort(),
  )
})

test('a file that measures its process and a file with hooks of its own run alone', () => {
  const groups = groupTests(patterns)
  for (const file of ['test/linear-text.test.ts', 'test/sim-helpdesk/access.test.ts']) {
    assert.equal(groups.find((group) => group.includes(file))?.length, 1, file)
  }
})

test('end-to-end tests come first, and share no process with other tests', () => {
  const areEndToEnd = groupTests(patterns).map((group) => new Set(group.map((file) => file.startsWith('test/e2e/'))))
  assert.ok(areEndToEnd.every((kinds) => kinds.size === 1))
  assert.ok(areEndToEnd.findLastIndex((kinds) => kinds.has(true)) < areEndToEnd.findIndex((kinds) => kinds.has(false)))
})

test('all tests of a group run, and one failure fails the group', () => {
  const passing = `test('passes', () => undefined)`
  const failing = `test('fails', () => { throw new Error('on purpose') })`
  const passed = runGroup([passing, passing])
  assert.equal(passed.code, 0)
  assert.match(passed.printed, /pass 2$/m)
  const failed = runGroup([passing, failing, passing])
  assert.equal(failed.code, 1)
  assert.match(failed.printed, /pass 2$/m)
})

test('a file that cannot be loaded fails its group', () => {
  assert.equal(runGroup([`test('passes', () => undefined)`, `import './missing.ts'`]).code, 1)
})

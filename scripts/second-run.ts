// Runs the files of failed tests again, twice, each with nothing beside it. A host that stands still for seconds breaks deadlines of
// tests that run side by side. A fault that does not depend on the load fails here too
// (docs/decisions/050-failed-files-run-again-alone.md).

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { runNodeTests } from './node-tests.ts'
import type { TestRun } from './node-tests.ts'
import { testFilesIn } from './test-groups.ts'

/** Files or groups of files. More of them do not fail because of the host. */
const mostFiles = 5
/** A fault that shows itself now and then gets more than one chance to do so. */
const runs = 2

/** Runs the tests. `isAllowed`: the files of failed tests run again, and all of them must pass each time. */
export async function runWithSecondChance(run: TestRun, isAllowed: boolean): Promise<void> {
  if (!isAllowed) {
    await runNodeTests(run)
    return
  }
  const directory = mkdtempSync(join(tmpdir(), 'causeway-failed-'))
  try {
    const list = join(directory, 'files')
    await runNodeTests({ ...run, flags: [...(run.flags ?? []), ...reporting(list)] })
    if (process.exitCode !== 0) await runAgain(run, filesIn(list))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function runAgain(run: TestRun, files: readonly string[]): Promise<void> {
  if (files.length === 0 || files.length > mostFiles) return
  const names = files
    .flatMap(testFilesIn)
    .map((file) => relative('.', file))
    .join('\n  ')
  console.log(`Tests failed in some of these files, which run again alone, ${runs} times:\n  ${names}`)
  const flags = [...(run.flags ?? []), '--test-concurrency=1']
  for (let count = 0; count < runs; count++) {
    await runNodeTests({ ...run, files, flags })
    if (process.exitCode !== 0) return
  }
  console.log(
    `Unstable: tests in some of these files failed beside others and passed alone. The failures stand above: find out why.\n  ${names}`,
  )
}

function reporting(list: string): string[] {
  return [
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...['--test-reporter=./scripts/failed-files.ts', `--test-reporter-destination=${list}`],
  ]
}

/** The list is missing when the run ended before its first test. */
function filesIn(list: string): string[] {
  if (!existsSync(list)) return []
  return readFileSync(list, 'utf8').split('\n').filter(Boolean)
}

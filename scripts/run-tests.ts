// Runs a named set of tests: `node scripts/run-tests.ts fast`. Options that follow go to node; files that follow replace the set's own.

import { isListOnly, runNodeTests } from './node-tests.ts'
import type { TestRun } from './node-tests.ts'
import { runWithSecondChance } from './second-run.ts'
import { throughStranger } from './stranger-files.ts'
import { groupTests, writeGroups } from './test-groups.ts'

const onSqliteOnly = { TEST_ENGINES: 'sqlite' }
const unit = ['src/**/*.test.ts', 'test/*.test.ts']
const fast = [...unit, 'test/bridge/**/*.test.ts', 'test/storage/**/*.test.ts', 'test/downstream/**/*.test.ts']
const all = ['src/**/*.test.ts', 'test/**/*.test.ts']

/** The files of a set in groups run in one process per group. In the long run and after a change each file has a process. */
type TestSet = TestRun & { inGroups?: boolean }

const sets: Readonly<Record<string, TestSet>> = {
  all: { files: all, inGroups: true },
  long: { files: all, environment: { TEST_LONG: '1' } },
  e2e: { files: ['test/e2e/**/*.test.ts'], inGroups: true },
  fast: { files: fast, inGroups: true, environment: onSqliteOnly },
  unit: { files: unit, inGroups: true, environment: onSqliteOnly },
  stranger: {
    ...{ files: throughStranger, inGroups: true },
    // Clocks that a test moves by hours let workers ask the database at each tick.
    flags: ['--test-concurrency=2'],
    environment: { TEST_STRANGER: '1', TEST_ENGINES: 'postgres' },
  },
  watch: { files: fast, flags: ['--watch'], environment: onSqliteOnly },
}

const [name = 'all', ...rest] = process.argv.slice(2)
const set = sets[name]
if (!set) {
  console.error(`There is no set of tests named "${name}". The sets are: ${Object.keys(sets).join(', ')}.`)
  process.exit(1)
}
const { inGroups = false, ...run } = set
const flags = [...(run.flags ?? []), ...rest.filter((argument) => argument.startsWith('-'))]
const files = rest.filter((argument) => !argument.startsWith('-'))
if (files.length > 0 || !inGroups || isListOnly) {
  await runNodeTests({ ...run, flags, files: files.length > 0 ? files : run.files })
} else {
  using groups = writeGroups(groupTests(run.files))
  await runWithSecondChance({ ...run, flags, files: groups.files }, process.env['TEST_AGAIN'] === '1')
}

// Runs a named set of tests: `node scripts/run-tests.ts fast`. Options that follow go to node; files that follow replace the set's own.

import { runNodeTests } from './node-tests.ts'
import type { TestRun } from './node-tests.ts'

const onSqliteOnly = { TEST_ENGINES: 'sqlite' }
const unit = ['src/**/*.test.ts', 'test/*.test.ts']
const fast = [...unit, 'test/bridge/**/*.test.ts', 'test/storage/**/*.test.ts', 'test/downstream/**/*.test.ts']
const all = ['src/**/*.test.ts', 'test/**/*.test.ts']

const sets: Readonly<Record<string, TestRun>> = {
  all: { files: all },
  long: { files: all, environment: { TEST_LONG: '1' } },
  e2e: { files: ['test/e2e/**/*.test.ts'] },
  fast: { files: fast, flags: ['--test-concurrency=4'], environment: onSqliteOnly },
  unit: { files: unit, environment: onSqliteOnly },
  watch: { files: fast, flags: ['--watch'], environment: onSqliteOnly },
}

const [name = 'all', ...rest] = process.argv.slice(2)
const set = sets[name]
if (!set) {
  console.error(`There is no set of tests named "${name}". The sets are: ${Object.keys(sets).join(', ')}.`)
  process.exit(1)
}
const flags = rest.filter((argument) => argument.startsWith('-'))
const files = rest.filter((argument) => !argument.startsWith('-'))
await runNodeTests({ ...set, flags: [...(set.flags ?? []), ...flags], files: files.length > 0 ? files : set.files })

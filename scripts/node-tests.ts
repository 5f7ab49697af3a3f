// Starts node's test runner with the options that every run of our tests needs.

import { globSync } from 'node:fs'
import { runNode } from './run-node.ts'

/** The scripts print what they would run, and run nothing. */
export const isListOnly = process.env['LIST_ONLY'] === '1'

// Three processes run at a time on two cores: tests also wait, and many start processes of their own. With four, tests on a slow host
// reached their deadlines.
const options = [
  '--test',
  '--import=./test/harness/file-deadline.ts',
  '--test-global-setup=test/harness/global-setup.ts',
  '--test-timeout=600000',
  '--test-concurrency=3',
]

export type TestRun = {
  /** Files and patterns of files; the runner expands the patterns itself. */
  files: readonly string[]
  /** More options for node, such as `--watch` or `--test-name-pattern=...`. */
  flags?: readonly string[]
  environment?: Readonly<Record<string, string>>
}

export async function runNodeTests({ files, flags = [], environment }: TestRun): Promise<void> {
  if (isListOnly)
    console.log(
      globSync([...files])
        .sort()
        .join('\n'),
    )
  else await runNode([...options, ...flags, ...files], environment)
}

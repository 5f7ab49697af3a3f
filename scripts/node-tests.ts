// Starts node's test runner with the options that every run of our tests needs.

import { spawn } from 'node:child_process'

// Three files run at a time on two cores, because tests mostly wait.
const options = [
  '--test',
  '--test-global-setup=test/harness/global-setup.ts',
  '--test-timeout=180000',
  '--test-concurrency=3',
]

export type TestRun = {
  /** Files and patterns of files; the runner expands the patterns itself. */
  files: readonly string[]
  /** More options for node, such as `--watch` or `--test-name-pattern=...`. */
  flags?: readonly string[]
  environment?: Readonly<Record<string, string>>
}

/** The exit code is the one of the test runner. */
export async function runNodeTests({ files, flags = [], environment = {} }: TestRun): Promise<void> {
  const runner = spawn(process.execPath, [...options, ...flags, ...files], {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  })
  // A terminal sends Ctrl+C to both processes. This one waits until the runner has stopped PostgreSQL.
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', () => runner.kill('SIGTERM'))
  process.exitCode = await new Promise<number>((resolve, reject) => {
    runner.once('error', reject)
    runner.once('exit', (code) => {
      resolve(code ?? 1)
    })
  })
}

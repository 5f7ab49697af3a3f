// Says whether one test file notices a mutant. A test that is only too slow at the moment does not count as noticing it.

import type { TestResult } from './run-test-file.ts'

/** The ways to run the test file. */
export type Runs = {
  /** How the test ends without the mutant, measured once and remembered. */
  baseline(): Promise<TestResult>
  /** The next call of `baseline` measures again. */
  forgetBaseline(): void
  withMutant(limitMs: number): Promise<TestResult>
  withoutMutant(limitMs: number): Promise<TestResult>
}

/** `useless`: the test fails, or takes longer than its limit, also without the mutant. */
export type Notice = TestResult['result'] | 'useless'

// A test that hangs fails by its own limits, which are longer.
const patience = { factor: 3, moreMs: 10_000 }
const mostTries = 3

/** When the time limit is over, the unchanged code has to pass within the same limit. Otherwise the limit is too short. */
export async function noticeMutant(runs: Runs): Promise<Notice> {
  for (let tries = 0; tries < mostTries; tries++) {
    const { result: before, ms } = await runs.baseline()
    // A test that fails without a mutant proves nothing.
    if (before !== 'passed') return 'useless'
    const limitMs = ms * patience.factor + patience.moreMs
    const { result } = await runs.withMutant(limitMs)
    if (result !== 'timeout') return result
    if ((await runs.withoutMutant(limitMs)).result === 'passed') return 'timeout'
    runs.forgetBaseline()
  }
  return 'useless'
}

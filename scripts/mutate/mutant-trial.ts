// Tries mutants in one copy of the tree: a mutant is killed when a test fails or hangs, and survives when all tests pass.

import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { chooseTests } from './choose-tests.ts'
import type { Mutant } from './find-mutants.ts'
import type { ImportGraph } from './import-graph.ts'
import { noticeMutant } from './notice-mutant.ts'
import { runTestFile } from './run-test-file.ts'
import type { TestResult } from './run-test-file.ts'
import type { TreeCopy } from './tree-copy.ts'

/** `timeout`: the test hangs with the mutant, and passes without it in the same time. */
export type Verdict = { result: 'killed' | 'timeout' | 'survived' | 'untested'; by: string | null; ms: number }

/** What all copies learn about the tests. */
export type Knowledge = {
  graph: ImportGraph
  tests: readonly string[]
  /** How each test file ends without a mutant. */
  baselines: Map<string, Promise<TestResult>>
  /** How many mutants of each folder each test file has killed. */
  kills: Map<string, number>
}

const baselineLimitMs = 300_000

export class MutantTrial {
  readonly #copy: TreeCopy
  readonly #knowledge: Knowledge
  readonly #stopping: AbortSignal

  /** `stopping` ends the test that runs. The verdict then means nothing. */
  constructor(copy: TreeCopy, knowledge: Knowledge, stopping: AbortSignal) {
    this.#copy = copy
    this.#knowledge = knowledge
    this.#stopping = stopping
  }

  async run(mutant: Mutant): Promise<Verdict> {
    const { graph, tests, kills } = this.#knowledge
    const startedAt = performance.now()
    const verdict = (result: Verdict['result'], by: string | null = null): Verdict => {
      const key = keyOf(by ?? '', mutant)
      if (by !== null) kills.set(key, (kills.get(key) ?? 0) + 1)
      return { result, by, ms: Math.round(performance.now() - startedAt) }
    }
    let isTested = false
    for (const test of this.#inOrder(chooseTests(mutant.file, tests, graph), mutant)) {
      const notice = await this.#notice(test, mutant)
      if (notice === 'failed') return verdict('killed', test)
      if (notice === 'timeout') return verdict('timeout', test)
      isTested ||= notice === 'passed'
    }
    return verdict(isTested ? 'survived' : 'untested')
  }

  /** Those beside the file first, then those that killed most mutants of the folder. */
  #inOrder(tests: readonly string[], mutant: Mutant): string[] {
    const rank = (test: string) =>
      dirname(test) === dirname(mutant.file) ? Infinity : (this.#knowledge.kills.get(keyOf(test, mutant)) ?? 0)
    return Map.groupBy(tests, rank)
      .entries()
      .toArray()
      .sort(([a], [b]) => b - a)
      .flatMap(([, each]) => each)
  }

  #notice(test: string, mutant: Mutant) {
    const { baselines } = this.#knowledge
    const key = `${test} ${enginesFor(mutant)}`
    return noticeMutant({
      baseline: () => {
        const known = baselines.get(key) ?? this.#run(test, mutant, baselineLimitMs)
        baselines.set(key, known)
        return known
      },
      forgetBaseline: () => baselines.delete(key),
      withMutant: (limitMs) => this.#with(mutant, () => this.#run(test, mutant, limitMs)),
      withoutMutant: (limitMs) => this.#run(test, mutant, limitMs),
    })
  }

  async #with<T>({ file, text }: Mutant, work: () => Promise<T>): Promise<T> {
    await this.#copy.write(file, text)
    try {
      return await work()
    } finally {
      await this.#copy.write(file, readFileSync(file, 'utf8'))
    }
  }

  #run(test: string, mutant: Mutant, limitMs: number): Promise<TestResult> {
    const engines = { TEST_ENGINES: enginesFor(mutant) }
    // A changed migration must run: the ready-made databases have the tables of the unchanged ones.
    const isMigration = mutant.file.includes('/migrations/')
    const environment = { ...engines, ...(isMigration && { TEST_SQLITE_TEMPLATE: '', TEST_POSTGRES_TEMPLATE: '' }) }
    return runTestFile(test, { directory: this.#copy.directory, limitMs, environment, stopping: this.#stopping })
  }
}

function keyOf(test: string, { file }: Mutant): string {
  return `${test} ${dirname(file)}`
}

/** PostgreSQL runs the code of the storage room in its own ways. Elsewhere SQLite is enough, and faster. */
function enginesFor({ file }: Mutant): string {
  return file.startsWith('src/storage/') ? 'sqlite,postgres' : 'sqlite'
}

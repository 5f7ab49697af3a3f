// Changes the code in small ways and says which changes no test notices: `npm run mutate -- bridge storage --count 50 --seed 1`.
//
// Each mutant is tried in a copy of the tree, with the tests of its room, two mutants at a time. Prints one line of JSON per
// mutant, then the scores of the rooms and the new survivors. `--list` prints the mutants and tries none.

import { globSync, readFileSync } from 'node:fs'
import { globalSetup, globalTeardown } from '../test/harness/global-setup.ts'
import { isAccepted, readAccepted } from './mutate/accepted-survivors.ts'
import { roomOf } from './mutate/choose-tests.ts'
import { findMutants } from './mutate/find-mutants.ts'
import type { Mutant } from './mutate/find-mutants.ts'
import { ImportGraph } from './mutate/import-graph.ts'
import { isReadable } from './mutate/is-readable.ts'
import { scoresOf } from './mutate/mutant-score.ts'
import { MutantTrial } from './mutate/mutant-trial.ts'
import type { Knowledge, Verdict } from './mutate/mutant-trial.ts'
import { readOptions } from './mutate/read-options.ts'
import { sampleMutants } from './mutate/sample-mutants.ts'
import { TreeCopy } from './mutate/tree-copy.ts'

type Named = Omit<Mutant, 'text'> & { room: string }
type Tried = Named & (Verdict | { result: 'accepted' })

const trials = 2
const leastScore = 85
const interruptedCode = 130

const { paths, count, seed, isList, only } = readOptions(process.argv.slice(2))
const drawn = drawMutants()
const stopping = new AbortController()

if (isList) for (const mutant of drawn) console.log(JSON.stringify(named(mutant)))
else report(await tryAll(drawn))

function drawMutants(): Mutant[] {
  const mutants =
    only.length > 0
      ? only.flatMap(({ file, line }) => mutantsIn(file).filter((mutant) => mutant.line === line))
      : paths.flatMap((path) => sampleMutants(mutantsIn(path), count, seed))
  const places = only.length > 0 ? only.map(({ file, line }) => `${file}:${line}`) : paths
  if (mutants.length === 0) throw new Error(`There are no mutants in ${places.join(', ')}: name a path inside src.`)
  const { readable = [], broken = [] } = Object.groupBy(mutants, (each) => (isReadable(each) ? 'readable' : 'broken'))
  for (const { file, line, after } of broken) console.error(`${file}:${line}: Node cannot read the mutant ${after}`)
  return readable
}

/** `path` is a room, a folder in it or a file in it. */
function mutantsIn(path: string): Mutant[] {
  const files = globSync(path.endsWith('.ts') ? path : `${path}/**/*.ts`)
  const sources = files.map((file) => file.replaceAll('\\', '/')).filter((file) => !file.endsWith('.test.ts'))
  return sources.sort().flatMap((file) => findMutants(file, readFileSync(file, 'utf8')))
}

function named({ file, line, inside, kind, before, after }: Mutant): Named {
  return { room: roomOf(file), file, line, inside, kind, before, after }
}

async function tryAll(mutants: readonly Mutant[]): Promise<Tried[]> {
  const tests = globSync('{src,test}/**/*.test.ts').map((file) => file.replaceAll('\\', '/'))
  const knowledge: Knowledge = { graph: new ImportGraph(), tests, baselines: new Map(), kills: new Map() }
  const accepted = readAccepted()
  const left = [...mutants]
  const results: Tried[] = []
  const work = async () => {
    await using copy = await TreeCopy.create()
    const trial = new MutantTrial(copy, knowledge, stopping.signal)
    for (let mutant = left.shift(); mutant; mutant = left.shift()) {
      const verdict = isAccepted(mutant, accepted) ? { result: 'accepted' as const } : await trial.run(mutant)
      if (stopping.signal.aborted) return
      const each = { ...named(mutant), ...verdict }
      console.log(JSON.stringify(each))
      results.push(each)
    }
  }
  await globalSetup()
  stopOnSignals()
  try {
    await Promise.all(Array.from({ length: trials }, work))
  } finally {
    await globalTeardown()
  }
  if (!stopping.signal.aborted) await nameUseless(knowledge)
  return results
}

async function nameUseless({ baselines }: Knowledge): Promise<void> {
  for (const [test, baseline] of baselines) {
    const { result } = await baseline
    if (result !== 'passed') console.error(`${test}: ${result} without a mutant, and was left out`)
  }
}

/** The package of PostgreSQL ends the process by itself on a signal, before the copies are removed: its listeners go. */
function stopOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.removeAllListeners(signal).once(signal, () => {
      stopping.abort()
    })
  }
}

/** The results of an interrupted run are printed too. */
function report(tried: readonly Tried[]): void {
  const scores = scoresOf(tried)
  const survivors = tried.filter(({ result }) => result === 'survived' || result === 'untested')
  console.log(JSON.stringify({ seed, scores, survivors }, null, 2))
  if (scores.some(({ score }) => score < leastScore)) process.exitCode = 1
  if (stopping.signal.aborted) process.exitCode = interruptedCode
}

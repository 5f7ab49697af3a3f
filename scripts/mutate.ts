// Changes the code in small ways and says which changes no test notices: `npm run mutate -- bridge storage --count 50 --seed 1`.
//
// Each mutant is tried in a copy of the tree, with the tests of its room, two mutants at a time. Prints one line of JSON per
// mutant, then the scores of the rooms and the new survivors.

import { globSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { globalSetup, globalTeardown } from '../test/harness/global-setup.ts'
import { isAccepted, readAccepted } from './mutate/accepted-survivors.ts'
import { roomOf } from './mutate/choose-tests.ts'
import { findMutants } from './mutate/find-mutants.ts'
import type { Mutant } from './mutate/find-mutants.ts'
import { ImportGraph } from './mutate/import-graph.ts'
import { scoresOf } from './mutate/mutant-score.ts'
import { MutantTrial } from './mutate/mutant-trial.ts'
import type { Knowledge, Verdict } from './mutate/mutant-trial.ts'
import { sampleMutants } from './mutate/sample-mutants.ts'
import { TreeCopy } from './mutate/tree-copy.ts'

type Tried = Omit<Mutant, 'text'> & { room: string } & (Verdict | { result: 'accepted' })

const trials = 2
const leastScore = 85

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' } },
})
const paths = positionals.length > 0 ? positionals : ['bridge', 'storage', 'network']
const drawn = paths.flatMap((path) => sampleMutants(mutantsIn(path), Number(values.count), Number(values.seed)))
if (drawn.length === 0)
  throw new Error(`There are no mutants in ${paths.join(', ')}: name a room or a path inside src.`)

const tried = await tryAll(drawn)
const scores = scoresOf(tried)
const survivors = tried.filter(({ result }) => result === 'survived' || result === 'untested')
console.log(JSON.stringify({ seed: values.seed, scores, survivors }, null, 2))
if (scores.some(({ score }) => score < leastScore)) process.exitCode = 1

/** `path` is a room, a folder in it or a file in it. */
function mutantsIn(path: string): Mutant[] {
  const place = path.replace(/^src\//, '').replace(/\/+$/, '')
  const files = globSync(place.endsWith('.ts') ? `src/${place}` : `src/${place}/**/*.ts`)
  const sources = files.map((file) => file.replaceAll('\\', '/')).filter((file) => !file.endsWith('.test.ts'))
  return sources.sort().flatMap((file) => findMutants(file, readFileSync(file, 'utf8')))
}

async function tryAll(mutants: readonly Mutant[]): Promise<Tried[]> {
  const tests = globSync('{src,test}/**/*.test.ts').map((file) => file.replaceAll('\\', '/'))
  const knowledge: Knowledge = { graph: new ImportGraph(), tests, baselines: new Map(), kills: new Map() }
  const accepted = readAccepted()
  const left = [...mutants]
  const results: Tried[] = []
  const work = async () => {
    await using copy = await TreeCopy.create()
    const trial = new MutantTrial(copy, knowledge)
    for (let mutant = left.shift(); mutant; mutant = left.shift()) {
      const verdict = isAccepted(mutant, accepted) ? { result: 'accepted' as const } : await trial.run(mutant)
      const { file, line, kind, before, after } = mutant
      const each = { room: roomOf(file), file, line, kind, before, after, ...verdict }
      console.log(JSON.stringify(each))
      results.push(each)
    }
  }
  await globalSetup()
  try {
    await Promise.all(Array.from({ length: trials }, work))
  } finally {
    await globalTeardown()
  }
  for (const [test, baseline] of knowledge.baselines) {
    const { result } = await baseline
    if (result !== 'passed') console.error(`${test}: ${result} without a mutant, and was left out`)
  }
  return results
}

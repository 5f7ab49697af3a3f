// The parts of the mutation run that decide which changes are made, and which tests have to notice them.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isAccepted, readAccepted } from '../../scripts/mutate/accepted-survivors.ts'
import { chooseTests } from '../../scripts/mutate/choose-tests.ts'
import { findMutants } from '../../scripts/mutate/find-mutants.ts'
import { ImportGraph } from '../../scripts/mutate/import-graph.ts'
import { scoresOf } from '../../scripts/mutate/mutant-score.ts'
import { sampleMutants } from '../../scripts/mutate/sample-mutants.ts'

const mutate = (text: string) => findMutants('src/a/x.ts', text).map(({ kind, after }) => `${kind}: ${after}`)

test('each operator changes its kind of syntax', () => {
  assert.deepEqual(mutate('if (a < b) go()'), [
    'negated condition: if (!(a < b)) go()',
    'swapped operator: if (a <= b) go()',
    'removed call: if (a < b) ;',
  ])
  assert.deepEqual(mutate('await save()'), ['removed call: ;', 'removed await: ;(save())'])
  assert.deepEqual(mutate('const a = b ?? c'), ['removed fallback: const a = b'])
  assert.deepEqual(mutate('const a = [...b, c]'), [
    'removed element: const a = [...b, ]',
    'removed spread: const a = [...[], c]',
  ])
  assert.deepEqual(mutate(`const a = q.where('id', '=', 5)`), [
    'removed clause: const a = q',
    `changed constant: const a = q.where('id', '=', 50)`,
  ])
  assert.deepEqual(mutate('const f = () => { a = b; c = d }'), ['emptied body: const f = () => {}'])
  assert.deepEqual(mutate('const a = Math.max(b, c)'), ['swapped bound: const a = Math.min(b, c)'])
})

test('types, imports, logs and the sentences of errors are left alone', () => {
  const text = `import { a } from './a.ts'
    type B = 'b' | 'c'
    log.warn({ err }, 'no')
    throw new SendError('unknown', 'a sentence', 5)`
  assert.deepEqual(mutate(text), [])
})

test('a mutant holds the whole changed file, and names its line', () => {
  const [mutant] = findMutants('src/a/x.ts', 'const a = 1\nconst b = true\n').slice(1)
  assert.deepEqual(mutant, {
    file: 'src/a/x.ts',
    line: 2,
    kind: 'changed constant',
    before: 'const b = true',
    after: 'const b = false',
    text: 'const a = 1\nconst b = false\n',
  })
})

test('a sample is the same for the same seed, and takes from every file in turn', () => {
  const mutants = ['src/a/x.ts', 'src/a/y.ts'].flatMap((file) =>
    findMutants(
      file,
      Array.from({ length: file.endsWith('x.ts') ? 50 : 2 }, (_, n) => `const v${n} = ${n}`).join('\n'),
    ),
  )
  const drawn = sampleMutants(mutants, 4, 7)
  assert.deepEqual(sampleMutants(mutants, 4, 7), drawn)
  assert.notDeepEqual(sampleMutants(mutants, 4, 8), drawn)
  assert.equal(drawn.filter(({ file }) => file === 'src/a/y.ts').length, 2)
  assert.equal(sampleMutants(mutants, 500, 7).length, 52)
})

test('a mutant has the tests of its room, the nearest first; without any it has the nearest of other rooms', () => {
  const steps = new Map([
    ['test/bridge/outbound/far.test.ts', 4],
    ['test/bridge/inbound/near.test.ts', 3],
    ['src/bridge/outbound/send/unit.test.ts', 1],
    ['test/e2e/all.test.ts', 5],
  ])
  const graph = { distance: (from: string) => steps.get(from) }
  const tests = ['test/bridge/outbound/blind.test.ts', ...steps.keys()]
  assert.deepEqual(chooseTests('src/bridge/outbound/send/x.ts', tests, graph), [
    'src/bridge/outbound/send/unit.test.ts',
    'test/bridge/outbound/far.test.ts',
  ])
  assert.deepEqual(chooseTests('src/bridge/people/x.ts', tests, graph), [
    'src/bridge/outbound/send/unit.test.ts',
    'test/bridge/inbound/near.test.ts',
    'test/bridge/outbound/far.test.ts',
  ])
  assert.deepEqual(chooseTests('src/tenants/x.ts', tests, graph).at(0), 'src/bridge/outbound/send/unit.test.ts')
})

test('the graph follows imports and started files, and no types', () => {
  const graph = new ImportGraph()
  const own = 'test/scripts/mutate.test.ts'
  assert.equal(graph.distance(own, 'scripts/mutate/find-mutants.ts'), 1)
  assert.equal(graph.distance(own, 'scripts/mutate/operators.ts'), 2)
  assert.equal(graph.distance(own, 'scripts/mutate/mutant-trial.ts'), undefined)
  assert.ok(graph.distance('test/storage/database.test.ts', 'src/storage/engine/sqlite-worker.ts'))
})

test('the score leaves out accepted survivors and counts a hang as noticed', () => {
  const results = ['killed', 'timeout', 'killed', 'survived', 'accepted'] as const
  const [score] = scoresOf(results.map((result) => ({ room: 'bridge', result })))
  const counts = { mutants: 5, killed: 3, survived: 1, accepted: 1 }
  assert.deepEqual(score, { room: 'bridge', ...counts, score: 75, scoreOfAll: 60 })
})

test('an accepted survivor is still a mutant of its file', () => {
  for (const accepted of readAccepted()) {
    const mutants = findMutants(accepted.file, readFileSync(accepted.file, 'utf8'))
    assert.ok(
      mutants.some((mutant) => isAccepted(mutant, [accepted])),
      `${accepted.file}: ${accepted.before}`,
    )
  }
})

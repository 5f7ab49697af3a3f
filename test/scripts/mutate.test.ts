// The parts of the mutation run that decide which changes are made, and which tests have to notice them.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isAccepted, readAccepted } from '../../scripts/mutate/accepted-survivors.ts'
import { chooseTests } from '../../scripts/mutate/choose-tests.ts'
import { findMutants } from '../../scripts/mutate/find-mutants.ts'
import { ImportGraph } from '../../scripts/mutate/import-graph.ts'
import { isReadable } from '../../scripts/mutate/is-readable.ts'
import { scoresOf } from '../../scripts/mutate/mutant-score.ts'
import { noticeMutant } from '../../scripts/mutate/notice-mutant.ts'
import { readOptions } from '../../scripts/mutate/read-options.ts'
import { sampleMutants } from '../../scripts/mutate/sample-mutants.ts'

const mutate = (text: string) => findMutants('src/a/x.ts', text).map(({ kind, after }) => `${kind}: ${after}`)

test('each operator changes its kind of syntax', () => {
  assert.deepEqual(mutate('if (a < b) go()'), [
    'negated condition: if (!(a < b)) go()',
    'swapped operator: if (a <= b) go()',
    'removed call: if (a < b) ;',
  ])
  assert.deepEqual(mutate('await save()'), ['removed call: ;', 'removed await: void (save())'])
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

test('a removed await leaves the condition and the other branch of its statement alone', () => {
  const text = 'if (a) await save()\nelse await drop()'
  const removed = findMutants('src/a/x.ts', text).filter(({ kind }) => kind === 'removed await')
  assert.deepEqual(
    removed.map((mutant) => mutant.text),
    ['if (a) void (save())\nelse await drop()', 'if (a) await save()\nelse void (drop())'],
  )
  assert.ok(removed.every(isReadable))
})

test('Node can read every mutant of the code', () => {
  // These files have an await in a branch of an if, long queries, spreads and classes.
  const files = [
    'bridge/outbound/accept/retry-requests.ts',
    'bridge/inbound/late-files.ts',
    'storage/stores/messages/outbox-store.ts',
  ]
  const mutants = files.flatMap((file) => findMutants(`src/${file}`, readFileSync(`src/${file}`, 'utf8')))
  assert.ok(mutants.length > 100)
  assert.deepEqual(
    mutants.filter((mutant) => !isReadable(mutant)).map(({ after }) => after),
    [],
  )
  assert.ok(!isReadable({ text: 'if (a) ;(save())\nelse drop()' }))
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
    inside: '',
    kind: 'changed constant',
    before: 'const b = true',
    after: 'const b = false',
    text: 'const a = 1\nconst b = false\n',
  })
})

test('a mutant names the functions and members around it, and equal changes there have numbers', () => {
  const text = `class A {
      #b = 1
      constructor() { go() }
      c() { go() const d = () => { go() } go() }
    }
    function e() { go() }
    const f = { g: () => { go() } }`
  const calls = findMutants('src/a/x.ts', text.replaceAll('go()', '\ngo()\n'))
  assert.deepEqual(
    calls.filter(({ after }) => after === ';').map(({ inside }) => inside),
    ['A.constructor', 'A.c', 'A.c.d', 'A.c (2)', 'e', 'g'],
  )
  assert.equal(calls[0]?.inside, 'A.#b')
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

test('a mutant has the tests of its folder or of its room, the nearest first, else the nearest of other rooms', () => {
  const steps = new Map([
    ['test/bridge/outbound/far.test.ts', 4],
    ['test/bridge/inbound/near.test.ts', 3],
    ['src/bridge/outbound/send/unit.test.ts', 1],
    ['test/bridge/whole.test.ts', 6],
    ['test/e2e/all.test.ts', 5],
  ])
  const graph = { distance: (from: string) => steps.get(from) }
  const tests = ['test/bridge/outbound/blind.test.ts', ...steps.keys()]
  assert.deepEqual(chooseTests('src/bridge/outbound/send/x.ts', tests, graph), [
    'src/bridge/outbound/send/unit.test.ts',
    'test/bridge/outbound/far.test.ts',
    'test/bridge/whole.test.ts',
  ])
  assert.deepEqual(chooseTests('src/bridge/people/x.ts', tests, graph), [
    'src/bridge/outbound/send/unit.test.ts',
    'test/bridge/inbound/near.test.ts',
    'test/bridge/outbound/far.test.ts',
    'test/bridge/whole.test.ts',
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

test('the score leaves out accepted survivors, and counts a hang as noticed in a column of its own', () => {
  const results = ['killed', 'timeout', 'killed', 'survived', 'accepted'] as const
  const [score] = scoresOf(results.map((result) => ({ room: 'bridge', result })))
  const counts = { mutants: 5, killed: 2, timeout: 1, survived: 1, accepted: 1 }
  assert.deepEqual(score, { room: 'bridge', ...counts, score: 75, scoreOfAll: 60 })
})

test('an accepted survivor is one mutant of its file, and has a reason', () => {
  for (const accepted of readAccepted()) {
    const mutants = findMutants(accepted.file, readFileSync(accepted.file, 'utf8'))
    const found = mutants.filter((mutant) => isAccepted(mutant, [accepted]))
    assert.equal(found.length, 1, `${accepted.file}: ${accepted.before}`)
    assert.ok(accepted.reason.length > 20, `${accepted.file}: ${accepted.before}`)
  }
})

test('an accepted survivor does not excuse the equal line of another function', () => {
  const mutants = findMutants('src/a/x.ts', 'function a() {\ngo()\n}\nfunction b() {\ngo()\n}')
  const accepted = mutants.filter(({ inside }) => inside === 'a')
  assert.deepEqual(
    mutants.map((mutant) => isAccepted(mutant, accepted)),
    [true, false],
  )
})

/** A test file whose runs take the given times, with a limit that comes from its first run. */
function slowTest({ alone, withMutant }: { alone: number[]; withMutant: number[] }) {
  const limits: number[] = []
  const run = (times: number[], limitMs: number) => {
    const ms = times.shift() ?? 0
    return Promise.resolve({ result: ms < limitMs ? ('passed' as const) : ('timeout' as const), ms })
  }
  let known: ReturnType<typeof run> | undefined
  const notice = noticeMutant({
    baseline: () => (known ??= run(alone, Infinity)),
    forgetBaseline: () => (known = undefined),
    withMutant: (limitMs) => {
      limits.push(limitMs)
      return run(withMutant, limitMs)
    },
    withoutMutant: (limitMs) => run(alone, limitMs),
  })
  return { notice, limits }
}

test('a test that hangs with the mutant only has noticed it', async () => {
  const { notice, limits } = slowTest({ alone: [1000, 2000], withMutant: [Infinity] })
  assert.equal(await notice, 'timeout')
  assert.deepEqual(limits, [13_000])
})

test('a test that is too slow without the mutant too is measured again, and the mutant is tried again', async () => {
  const { notice, limits } = slowTest({ alone: [1000, 20_000, 20_000], withMutant: [20_000, 20_000] })
  assert.equal(await notice, 'passed')
  assert.deepEqual(limits, [13_000, 70_000])
})

test('a test that never keeps its limit without the mutant says nothing about the mutant', async () => {
  const { notice, limits } = slowTest({
    alone: [1, 90_000, 1, 90_000, 1, 90_000],
    withMutant: [Infinity, Infinity, Infinity],
  })
  assert.equal(await notice, 'useless')
  assert.equal(limits.length, 3)
})

test('the command line names rooms or lines, and its numbers are checked', () => {
  const defaults = { count: 60, seed: 1, isList: false, only: [] }
  assert.deepEqual(readOptions([]), { ...defaults, paths: ['src/bridge', 'src/storage', 'src/network'] })
  assert.deepEqual(readOptions(['lib', 'src/core/', '--count', '5', '--seed', '0', '--list']), {
    ...{ paths: ['src/lib', 'src/core'], count: 5, seed: 0, isList: true, only: [] },
  })
  const only = [
    { file: 'src/lib/clock.ts', line: 12 },
    { file: 'src/lib/lane.ts', line: 7 },
  ]
  assert.deepEqual(readOptions(['--only', 'src/lib/clock.ts:12', '--only', 'lib/lane.ts:7']).only, only)
  for (const count of ['x', '0', '1.5', '']) {
    assert.throws(() => readOptions(['--count', count]), /--count takes a whole number from 1 up/)
  }
  assert.throws(() => readOptions(['--seed', 'x']), /--seed takes a whole number from 0 up/)
  assert.throws(() => readOptions(['--only', 'src/lib/clock.ts']), /--only takes <file>:<line>/)
  assert.throws(() => readOptions(['lib', '--only', 'lib/clock.ts:1']), /not both/)
})

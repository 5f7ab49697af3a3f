import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { engines } from './databases.ts'
import { drawnEngines } from './drawn-engine.ts'

const root = new URL('../../', import.meta.url)
const drawing = globSync('test/**/*.test.ts', { cwd: root }).filter((file) =>
  readFileSync(new URL(file, root), 'utf8').includes('drawnEngines(import.meta.url)'),
)

test('the files that draw an engine run on both engines, about half of them on each', () => {
  const drawn = drawing.flatMap((file) => drawnEngines(new URL(file, root).href))
  for (const engine of engines) {
    const share = drawn.filter((each) => each === engine).length / drawn.length
    assert.ok(share * engines.length > 0.6, `${engine} has a share of ${share}`)
  }
})

test('the same file draws the same engine, wherever the repository is', () => {
  const [file = ''] = drawing
  assert.deepEqual(drawnEngines(new URL(file, root).href), drawnEngines(file))
})

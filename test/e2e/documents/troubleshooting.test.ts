// The page for troubleshooting has a row for every sentence with which a check of the set-up complains, and no other row.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { checkNames } from '../../../src/setup/checks/finding.ts'
import { checkSentences, sentencesIn } from '../../harness/check-sentences.ts'

const rows = [...readFileSync('docs/troubleshooting.md', 'utf8').matchAll(/^\| (`\w+`: .+?) +\| /gm)]
const documented = rows.map(([, cell = '']) => cell)
const said = checkSentences().map(({ check, sentence }) => `\`${check}\`: ${sentence}`)

test('every sentence of a check has its row, and every row is a sentence of a check', () => {
  assert.deepEqual(documented.toSorted(), [...new Set(said)].sort())
})

test('every check has a row', () => {
  const missing = checkNames.filter((name) => !documented.some((row) => row.startsWith(`\`${name}\`:`)))
  assert.deepEqual(missing, [])
})

test('sentences are found in all forms that the checks use', () => {
  const text = `
    const name = 'outer'
    function check(facts) {
      const sentence = isOne ? 'one' : \`two \${facts.of} three\`
      advised(name, sentence, 'cure')
      return broken('inner', facts.message, 'cure')
    }`
  assert.deepEqual(sentencesIn(text), [
    { check: 'outer', sentence: 'one' },
    { check: 'outer', sentence: 'two … three' },
    { check: 'inner', sentence: '…' },
  ])
})

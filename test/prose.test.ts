// Checks the prose of documents, comments and names of tests for turns that hide the subject of a sentence.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

type Line = { place: string; text: string }

/** A turn to avoid, and what to write instead. */
const bannedTurns: readonly [turn: RegExp, advice: string][] = [
  [/\bwho(?:m)?ever\b/i, 'name the caller, the process or the reader'],
  [/\bwhatever\b/i, 'name the thing, or say "any"'],
  [/\bnobody\b/i, 'say "no" and the noun'],
  [/\bsomebody\b/i, 'name the person, the process or the caller'],
  [/\bit is said\b/i, 'name the one who says it'],
  [/\bhow many it (?:are|were)\b/i, 'say "their number"'],
]

const documents = globSync(['*.md', 'docs/**/*.md', 'src/**/*.md']).map(slashes)
const sources = globSync(
  ['src', 'test', 'sim', 'cli', 'demo', 'bench', 'scripts', 'site'].map((folder) => `${folder}/**/*.ts`),
)
  .map(slashes)
  .filter((file) => file !== 'test/prose.test.ts')

function slashes(path: string): string {
  return path.replaceAll('\\', '/')
}

function readLines(file: string): Line[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((text, index) => ({ place: `${file}:${index + 1}`, text }))
}

/** Without examples of code, whose words are not ours to choose. */
function proseOf(lines: readonly Line[]): Line[] {
  let isCode = false
  return lines.filter(({ text }) => {
    const isFence = text.trimStart().startsWith('```')
    if (isFence) isCode = !isCode
    return !isCode && !isFence
  })
}

/** Comments only: names and the sentences in strings do not count. */
function commentsOf(lines: readonly Line[]): Line[] {
  return lines.flatMap(({ place, text }) => {
    const comment = /^\s*(?:\/\/|\/?\*)(.*)$|\s\/\/ (.*)$/.exec(text)
    return comment ? [{ place, text: comment[1] ?? comment[2] ?? '' }] : []
  })
}

/** The names of tests, also in a template. */
function testNamesOf(lines: readonly Line[]): Line[] {
  return lines.flatMap(({ place, text }) => {
    const name = /\b(?:test|describe)\((['"`])(.*?)\1[,)]/.exec(text)?.[2]
    return name === undefined ? [] : [{ place, text: name }]
  })
}

function findBannedTurns(lines: readonly Line[]): string[] {
  return lines.flatMap(({ place, text }) => {
    const words = text.replace(/`[^`]*`/g, '')
    return bannedTurns.flatMap(([turn, advice]) => {
      const found = turn.exec(words)?.[0]
      return found === undefined ? [] : [`${place} says "${found}": ${advice}`]
    })
  })
}

test('documents name their subjects', () => {
  assert.ok(documents.includes('docs/architecture.md'), 'the documents are found')
  assert.deepEqual(findBannedTurns(documents.flatMap((file) => proseOf(readLines(file)))), [])
})

test('comments and names of tests name their subjects', () => {
  const places = ['src/main.ts', 'test/architecture.test.ts', 'sim/cli.ts', 'bench/run.ts', 'scripts/generate.ts']
  assert.deepEqual(
    places.filter((file) => !sources.includes(file)),
    [],
    'the sources are found',
  )
  const lines = sources.map(readLines)
  assert.deepEqual(findBannedTurns(lines.flatMap(commentsOf)), [])
  assert.deepEqual(findBannedTurns(lines.flatMap(testNamesOf)), [])
})

test('a comment is told from the code beside it', () => {
  const lines = [
    '// nobody',
    '/** Whatever',
    ' * somebody */',
    'nobody(1) // whoever',
    "text = 'nobody: https://nobody.example'",
  ]
  const found = commentsOf(lines.map((text, index) => ({ place: `a.ts:${index + 1}`, text })))
  assert.deepEqual(
    findBannedTurns(found).map((line) => line.split(': ')[0]),
    ['a.ts:1 says "nobody"', 'a.ts:2 says "Whatever"', 'a.ts:3 says "somebody"', 'a.ts:4 says "whoever"'],
  )
})

test('the name of a test is told from its code', () => {
  const lines = [
    "test('nobody waits', async () => {",
    "await write('nobody')",
    '  describe(`whatever ${comes}`, () => {',
  ]
  const found = testNamesOf(lines.map((text, index) => ({ place: `a.test.ts:${index + 1}`, text })))
  assert.deepEqual(
    findBannedTurns(found).map((line) => line.split(': ')[0]),
    ['a.test.ts:1 says "nobody"', 'a.test.ts:3 says "whatever"'],
  )
})

test('a banned turn is found with its place, and code is left alone', () => {
  const lines = ['Whoever asks is told how many it are.', 'The field `nobody` stays.', '```', 'whatever()', '```']
  const found = findBannedTurns(proseOf(lines.map((text, index) => ({ place: `a.md:${index + 1}`, text }))))
  assert.deepEqual(
    found.map((line) => line.split(': ')[0]),
    ['a.md:1 says "Whoever"', 'a.md:1 says "how many it are"'],
  )
})

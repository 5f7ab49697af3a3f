// Checks the prose of the documents for turns that hide the subject of a sentence.

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

const documents = globSync(['*.md', 'docs/**/*.md'], { exclude: ['docs/simulat*.md'] }).map(slashes)

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

test('a banned turn is found with its place, and code is left alone', () => {
  const lines = ['Whoever asks is told how many it are.', 'The field `nobody` stays.', '```', 'whatever()', '```']
  const found = findBannedTurns(proseOf(lines.map((text, index) => ({ place: `a.md:${index + 1}`, text }))))
  assert.deepEqual(
    found.map((line) => line.split(': ')[0]),
    ['a.md:1 says "Whoever"', 'a.md:1 says "how many it are"'],
  )
})

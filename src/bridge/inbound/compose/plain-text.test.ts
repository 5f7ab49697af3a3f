import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPlainText } from './plain-text.ts'
import { textToMarkdown } from './text-to-markdown.ts'

const plain = ['ok', 'Bom dia, tudo bem?', 'Chego às 15 horas.', 'não sei! talvez, sim', 'нет', '你好', 'cafe\u0301']
const notPlain = [
  '',
  ' a',
  'a ',
  'a  b',
  '1. a',
  '2024',
  'a\nb',
  '*a*',
  'a_b',
  'a...',
  'a, , b',
  'wow!!',
  'a.com',
  'www.a',
  'a@b',
  'http: //a',
  '(c)',
  'a-b',
  'a — b',
  '# a',
  '😀',
  'a'.repeat(251),
]

test('words with simple punctuation are plain', () => {
  for (const text of plain) assert.ok(isPlainText(text), text)
})

test('a text with anything else is not plain', () => {
  for (const text of notPlain) assert.ok(!isPlainText(text), text)
})

test('every plain text is its own Markdown', () => {
  const pieces = [
    'a',
    'B',
    'ç',
    'e\u0301',
    '7',
    '12',
    'www',
    'http',
    'com',
    'tm',
    'x',
    ' ',
    ' ',
    ',',
    '.',
    '?',
    '!',
    '你',
  ]
  let found = 0
  let seed = 7
  const next = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
  for (let round = 0; round < 60_000; round++) {
    const text = Array.from({ length: 1 + next(9) }, () => pieces[next(pieces.length)]).join('')
    if (!isPlainText(text)) continue
    found++
    assert.equal(textToMarkdown(text), text)
  }
  assert.ok(found > 5_000, `only ${found} plain texts`)
})

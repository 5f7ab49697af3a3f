import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatAll, formatFindings, readCheck } from '../../cli/check-list.ts'

const fine = { name: 'token', result: 'ok', sentence: 'the token is valid', cure: null } as const
const broken = {
  name: 'ffmpeg',
  result: 'broken',
  sentence: 'ffmpeg is not installed',
  cure: 'install ffmpeg',
} as const

test('a finding has a mark and a sentence, and a broken one its cure', () => {
  assert.deepEqual(formatFindings([fine, broken]), [
    '✓ token: the token is valid',
    '✗ ffmpeg: ffmpeg is not installed',
    '    → install ffmpeg',
  ])
  assert.deepEqual(formatFindings([{ ...fine, cure: 'not needed' }]), ['✓ token: the token is valid'])
  assert.deepEqual(
    formatFindings([
      { ...broken, result: 'advice' },
      { ...fine, result: 'untested' },
    ]),
    ['! ffmpeg: ffmpeg is not installed', '    → install ffmpeg', '– token: the token is valid'],
  )
})

test('what is found alike at every instance is printed once', () => {
  const other = { ...fine, sentence: 'the token is refused', result: 'broken', cure: 'set another one' } as const
  const lines = formatAll(
    new Map([
      ['shop', { ok: false, checks: [fine, broken] }],
      ['bar', { ok: false, checks: [other, broken] }],
    ]),
  )
  assert.deepEqual(lines, [
    'every instance',
    '✗ ffmpeg: ffmpeg is not installed',
    '    → install ffmpeg',
    '',
    'shop',
    '✓ token: the token is valid',
    '',
    'bar',
    '✗ token: the token is refused',
    '    → set another one',
  ])
})

test('one instance has all its findings under its name', () => {
  const lines = formatAll(new Map([['shop', { ok: true, checks: [fine] }]]))
  assert.deepEqual(lines, ['shop', '✓ token: the token is valid'])
})

test('an answer of another version is read as far as possible, and changes nothing of the terminal', () => {
  const text = { name: 'a', sentence: 'red \x1b[31m\ntext', cure: '' }
  const odd = { ok: true, checks: [{ ...text, ok: true }, { ...text, ok: true, result: 'toString' }, null] }
  assert.deepEqual(readCheck(odd).checks, [
    { name: 'a', result: 'ok', sentence: 'red  [31m text', cure: null },
    { name: 'a', result: 'ok', sentence: 'red  [31m text', cure: null },
    { name: 'unknown', result: 'broken', sentence: '', cure: null },
  ])
  assert.equal(readCheck({ checks: [{ ok: false, result: 'advice' }] }).checks[0]?.result, 'advice')
  assert.deepEqual(readCheck({}), { ok: false, checks: [] })
})

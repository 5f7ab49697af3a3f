import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatAll, formatFindings, readCheck } from '../../cli/check-list.ts'

const fine = { name: 'token', ok: true, sentence: 'the token is valid', cure: null }
const broken = { name: 'ffmpeg', ok: false, sentence: 'ffmpeg is not installed', cure: 'install ffmpeg' }

test('a finding has a mark and a sentence, and a broken one its cure', () => {
  assert.deepEqual(formatFindings([fine, broken]), [
    '✓ token: the token is valid',
    '✗ ffmpeg: ffmpeg is not installed',
    '    → install ffmpeg',
  ])
  assert.deepEqual(formatFindings([{ ...fine, cure: 'not needed' }]), ['✓ token: the token is valid'])
})

test('what is found alike at every instance is printed once', () => {
  const other = { ...fine, sentence: 'the token is refused', ok: false, cure: 'set another one' }
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
  const odd = { ok: true, checks: [{ name: 'a', ok: true, sentence: 'red \x1b[31m\ntext', cure: '' }, null, 7] }
  assert.deepEqual(readCheck(odd).checks, [
    { name: 'a', ok: true, sentence: 'red  [31m text', cure: null },
    { name: 'unknown', ok: false, sentence: '', cure: null },
    { name: 'unknown', ok: false, sentence: '', cure: null },
  ])
  assert.deepEqual(readCheck({}), { ok: false, checks: [] })
})

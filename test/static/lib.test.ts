// The parts of the pages that need no browser.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { toCsv } from '../../static/app/lib/csv.js'
import { formatAgo, formatBytes, formatMonth, formatNumber, formatSpan } from '../../static/app/lib/format.js'
import { bestLanguage, fill } from '../../static/app/lib/languages.js'
import { maskNumbers } from '../../static/app/lib/mask.js'
import { monthBefore, monthOf, monthsBetween } from '../../static/app/lib/months.js'
import { match } from '../../static/app/lib/router.js'

describe('addresses of pages', () => {
  test('parameters are read from their places', () => {
    assert.deepEqual(match('/instances/:name', '/instances/shop-1'), { name: 'shop-1' })
    assert.deepEqual(match('/new-instance/:name/:step', '/new-instance/a/link?helpdesk=b'), { name: 'a', step: 'link' })
    assert.deepEqual(match('/', '/'), {})
  })

  test('another address is not that of the page', () => {
    for (const path of ['/instances', '/instances/a/b', '/instance/a', '']) {
      assert.equal(match('/instances/:name', path), null, path)
    }
  })

  test('escapes are read, and wrong ones are left as they are', () => {
    assert.deepEqual(match('/instances/:name', '/instances/a%2Fb%20c'), { name: 'a/b c' })
    assert.deepEqual(match('/instances/:name', '/instances/100%'), { name: '100%' })
  })
})

describe('the language of a visitor', () => {
  test('is the first one that the pages have', () => {
    assert.equal(bestLanguage(['de-DE', 'pt-PT', 'en']), 'pt-BR')
    assert.equal(bestLanguage(['es-419']), 'es')
    assert.equal(bestLanguage(['EN-gb', 'es']), 'en')
  })

  test('is English when the pages have none of them', () => {
    assert.equal(bestLanguage(['de', 'fr', 'esperanto']), 'en')
    assert.equal(bestLanguage([]), 'en')
  })
})

describe('places in texts', () => {
  test('get their values, each as often as it occurs', () => {
    assert.equal(fill('{a} of {b}, {a}', { a: 1, b: 'two' }), '1 of two, 1')
  })

  test('stay without a value, and a value is not filled again', () => {
    assert.equal(fill('{a} {b}', { a: '{b}' }), '{b} {b}')
    assert.equal(fill('{a}', { a: '$&' }), '$&')
  })
})

describe('times and numbers', () => {
  const now = Date.parse('2026-03-10T12:00:00Z')
  const ago = (timestamp: string | null) => formatAgo('en', timestamp, now)

  test('how long ago something happened', () => {
    assert.equal(ago('2026-03-10T11:59:31Z'), 'this minute')
    assert.equal(ago('2026-03-10T11:55:00Z'), '5 minutes ago')
    assert.equal(ago('2026-03-10T10:00:01Z'), '1 hour ago')
    assert.equal(ago('2026-03-08T12:00:00Z'), '2 days ago')
    assert.equal(formatAgo('es', '2026-03-10T11:55:00Z', now), 'hace 5 minutos')
  })

  test('the clock of the service may be ahead, and something may not have happened yet', () => {
    assert.equal(ago('2026-03-10T12:00:30Z'), 'this minute')
    assert.equal(ago(null), '–')
  })

  test('how long something lasts is not rounded to whole days and hours', () => {
    assert.equal(formatSpan('en', 90 * 60_000), '1.5 hours')
    assert.equal(formatSpan('pt-BR', 36 * 3_600_000), '1,5 dia')
    assert.equal(formatSpan('en', 60_000), '1 minute')
  })

  test('numbers, sizes and months are written in the language', () => {
    assert.equal(formatNumber('en', 12_345), '12,345')
    assert.equal(formatNumber('pt-BR', 12_345), '12.345')
    assert.equal(formatBytes('en', 1_540_000), '1.5 MB')
    assert.equal(formatBytes('en', 12), '12 byte')
    assert.equal(formatMonth('en', '2026-01'), 'Jan 2026')
  })
})

describe('months', () => {
  test('are counted over the turn of a year', () => {
    assert.equal(monthOf(Date.parse('2026-01-31T23:59:59Z')), '2026-01')
    assert.equal(monthBefore('2026-01', 1), '2025-12')
    assert.equal(monthBefore('2026-12', -1), '2027-01')
    assert.deepEqual(monthsBetween('2025-11', '2026-02'), ['2025-11', '2025-12', '2026-01', '2026-02'])
    assert.deepEqual(monthsBetween('2026-02', '2026-02'), ['2026-02'])
  })
})

describe('files for spreadsheets', () => {
  test('cells with separators, quotes and line breaks are quoted', () => {
    assert.equal(
      toCsv([
        ['a', 'b'],
        ['x,y', 'say "hi"\n'],
      ]),
      'a,b\r\n"x,y","say ""hi""\n"\r\n',
    )
  })

  test('a text that begins like a formula is text, and a number stays a number', () => {
    for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1']) assert.equal(toCsv([[text]]), `'${text}\r\n`)
    assert.equal(toCsv([['=HYPERLINK("x","y")']]), `"'=HYPERLINK(""x"",""y"")"\r\n`)
    assert.equal(toCsv([['\r=1']]), `"'\r=1"\r\n`)
    assert.equal(toCsv([[-5, 0]]), '-5,0\r\n')
  })
})

test('numbers of people keep their last two digits', () => {
  assert.equal(maskNumbers('to 5511988887777 and 12345'), 'to …77 and 12345')
  assert.equal(maskNumbers('+55 (11) 98888-7777 wrote'), '…77 wrote')
  assert.equal(maskNumbers('+1 2 3, 2026-03-10'), '+1 2 3, 2026-03-10')
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { textToMarkdown } from './text-to-markdown.ts'

const rows: [given: string, wanted: string][] = [
  ['*bold*', '**bold**'],
  ['_italic_', '_italic_'],
  ['~gone~', '~~gone~~'],
  ['*bold* and ~gone~', '**bold** and ~~gone~~'],
  ['*_both_*', '**_both_**'],
  ['*~both~*', '**~~both~~**'],
  ['(*bold*), said *he*.', '(**bold**), said **he**.'],
  ['`*code*`', '`*code*`'],
  ['```*code*\n~x~```', '```*code*\n~x~```'],
  ['2*3*4', '2*3*4'],
  ['* a list\n* of things', '* a list\n* of things'],
  ['*not\nbold*', '*not\nbold*'],
  ['* spaced *', '* spaced *'],
  ['**already**', '**already**'],
  ['https://x.example/a*b*c?~d~', 'https://x.example/a*b*c?~d~'],
  ['*https://x.example/a_b*', '**https://x.example/a_b**'],
  ['*see https://x.example/a*b/ now*', '**see https://x.example/a*b/ now**'],
  ['write to a~b_c@x.example *now*', 'write to a~b_c@x.example **now**'],
  ['*é*', '**é**'],
  ['> quoted *bold*', '> quoted **bold**'],
  ['', ''],
]

describe('WhatsApp text as Markdown', () => {
  for (const [given, wanted] of rows) {
    test(JSON.stringify(given), () => {
      assert.equal(textToMarkdown(given), wanted)
    })
  }

  test('nothing but marks is ever added', () => {
    const text = fc.string({ unit: fc.constantFrom('*', '~', '_', '`', 'a', 'é', ' ', '\n', '👍', '/', '.') })
    fc.assert(
      fc.property(text, (given) => {
        const strip = (one: string) => one.replace(/[*~]/g, '')
        assert.equal(strip(textToMarkdown(given)), strip(given))
      }),
    )
  })

  test('text without marks stays as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (given) => {
        const plain = given.replace(/[*~]/g, '')
        assert.equal(textToMarkdown(plain), plain)
      }),
    )
  })

  test('addresses survive wherever they stand', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true }), fc.constantFrom('', '*bold* ', '~x '), (url, before) => {
        const clean = url.replace(/[*_~.,;:!?)]+$/, '')
        assert.ok(textToMarkdown(`${before}${clean} after`).includes(clean))
      }),
    )
  })
})

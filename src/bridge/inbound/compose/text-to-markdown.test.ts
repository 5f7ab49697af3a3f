import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { linksAtChatwoot } from '../../../../test/displays/chatwoot-display.ts'
import { plainToMarkdown, textToMarkdown } from './text-to-markdown.ts'

const formatted: [given: string, wanted: string][] = [
  ['*bold*', '**bold**'],
  ['_italic_', '_italic_'],
  ['~gone~', '~~gone~~'],
  ['*bold* and ~gone~', '**bold** and ~~gone~~'],
  ['*_both_*', '**_both_**'],
  ['*~both~*', '**~~both~~**'],
  ['(*bold*), said *he*.', '(**bold**), said **he**.'],
  ['*é*', '**é**'],
  ['👍_italic_👍', '👍*italic*👍'],
  ['👍*"bold"*👍', '👍*"bold"*👍'],
  ['`*code*`', '`*code*`'],
  ['```*code*```', '```*code*```'],
  ['```\ncode\n```', '```\ncode\n```'],
  ['see ```*code*\n~x~``` here', 'see \n```\n*code*\n~x~\n```\n here'],
  ['* a list\n* of things', '* a list\n* of things'],
  ['- a list\nand text', '- a list\n\nand text'],
  ['1. one\n2. two', '1. one\n2. two'],
  ['> quoted *bold*', '> quoted **bold**'],
  ['> quoted\nanswer', '> quoted\n\nanswer'],
]

const escaped: [given: string, wanted: string][] = [
  ['2*3*4', '2*3\\*4'],
  ['*not\nbold*', '*not\nbold\\*'],
  ['**already**', '**already\\*\\*'],
  ['~~gone~~', '~~gone\\~~'],
  ['__init__.py', '__init\\__.py'],
  ['``code``', '\\``code``'],
  ['````\n```', '`\\```\n\\```'],
  ['# 1', '\\# 1'],
  ['1) one', '1\\) one'],
  ['1. one\n1. two', '1\\. one\n1\\. two'],
  ['01. one', '01\\. one'],
  ['+ one', '\\+ one'],
  ['    code', '\u00a0   code'],
  ['\tcode', '\u00a0code'],
  ['---', '-\\--'],
  ['***', '\\***'],
  ['~~~', '\\~~~'],
  ['```', '\\```'],
  ['a|b\n-|-', 'a|b\n-\\|-'],
  ['>no quote', '\\>no quote'],
  ['[x](y)', '[x]\\(y)'],
  ['![x](y)', '![x]\\(y)'],
  ['[ref]: url', '\\[ref]: url'],
  ['&amp; &#42;', '\\&amp; \\&#42;'],
  ['a\\*b\\', 'a\\\\*b\\'],
  ['a\\\nb', 'a\\\\\nb'],
  ['(c) (R) (tm)', '\\(c) \\(R) \\(tm)'],
  ['+- a--b -- ---', '+\\- a-\\-b -\\- -\\--'],
  ['???? !!!! ,, ..', '???\\? !!!\\! ,\\, .\\.'],
  ['> # quoted', '> \\# quoted'],
  ['- # item', '- \\# item'],
  ['* * *', '* \\* *'],
]

const kept: string[] = [
  ...[
    '',
    'plain',
    'Olá! Tudo bem? R$ 10,00 (dez) - obrigado.',
    '"quotes", don\'t…',
    'wait... what?',
    '5 * 3 = 15',
    'snake_case_name',
  ],
  ...[
    'a < b & c > d',
    'C:\\dir\\file.txt',
    '[x] (y)',
    '[10:30]: see you there',
    'text\n2. two\n3. three',
    '#hashtag',
    '-5 +3',
    '1.5',
  ],
  ...[
    '* spaced *',
    'a\n\n\nb',
    'a  \nb',
    '100% sure; see §5',
    '~ about',
    'e-mail: first_last@x.example',
    ':-| :-)',
    'Ana | Bia',
  ],
  ...[
    'https://x.example/a_b_c',
    'https://x.example/a*b*c?~d~',
    'https://youtu.be/_aB--c__',
    'https://x.example/wiki/A_(b)',
  ],
]

const linked: [given: string, wanted: string][] = [
  ['*https://x.example/a_b*', '**https://x.example/a_b**'],
  ['*see https://x.example/a*b/ now*', '**see https://x.example/a*b/ now**'],
  ['write to a_c@x.example *now*', 'write to a_c@x.example **now**'],
  ['_https://x.example/a_', '_[https://x.example/a](https://x.example/a)_'],
  ['www.x.example/_a_/b', '[www.x.example/\\_a\\_/b](http://www.x.example/_a_/b)'],
  ['<https://x.example/a>', '\\<https://x.example/a>'],
  ['<a@x.example>', '\\<[a@x.example](mailto:a@x.example)>'],
]

describe('WhatsApp text as Markdown', () => {
  for (const [given, wanted] of [...formatted, ...escaped, ...linked]) {
    test(JSON.stringify(given), () => {
      assert.equal(textToMarkdown(given), wanted)
    })
  }

  test('text that the helpdesk shows as it is stays byte for byte', () => {
    for (const text of kept) assert.equal(textToMarkdown(text), text)
    const words = fc.string({ unit: fc.constantFrom('a', 'Z', 'é', '9', ' ', ' ', '👍', '$', '%', '\n') })
    fc.assert(
      fc.property(words, (given) => {
        const text = given.replace(/^ {4,}/gm, '')
        assert.equal(textToMarkdown(text), text)
      }),
    )
  })

  test('addresses survive wherever they stand', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true }), fc.constantFrom('', '*bold* ', '~x '), (url, before) => {
        const clean = url.replace(/%00/g, '').replace(/[^\p{L}\p{N}/]+$/u, '')
        const shown = linksAtChatwoot(textToMarkdown(`${before}${clean} after`)).map(({ href }) => href)
        assert.deepEqual(shown.map(decodeURIComponent), [decodeURIComponent(clean)])
      }),
      { numRuns: Number(process.env.RUNS ?? 500) },
    )
  })
})

describe('text without formatting as Markdown', () => {
  test('marks stay visible', () => {
    assert.equal(plainToMarkdown('*bold* _x_ `c` 2*3'), '\\*bold\\* \\_x\\_ \\`c\\` 2\\*3')
    assert.equal(plainToMarkdown('Ana & Co. (1) 5 * 3 snake_case'), 'Ana & Co. (1) 5 * 3 snake_case')
    assert.equal(plainToMarkdown('- a\n1. b\n> c'), '\\- a\n1\\. b\n\\> c')
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { markdownToText } from './markdown-to-text.ts'
import { textToMarkdown } from '../../inbound/compose/text-to-markdown.ts'

const rows: [markdown: string, text: string][] = [
  ['plain', 'plain'],
  ['**bold** *italic* _italic_ ~~gone~~', '*bold* _italic_ _italic_ ~gone~'],
  ['***both*** and **bold *inside* it**', '*_both_* and *bold _inside_ it*'],
  ['__init__.py', '__init__.py'],
  ['`a *b* _c_` and ```\n**x**\n```', '`a *b* _c_` and ```\n**x**\n```'],
  ['[our page](https://x.example/a_b_c)', 'our page (https://x.example/a_b_c)'],
  ['[https://x.example](https://x.example/)', 'https://x.example/'],
  ['<https://x.example/a_b_c>', 'https://x.example/a_b_c'],
  ['https://x.example/a_b_c*d*e and **https://x.example/q**', 'https://x.example/a_b_c*d*e and *https://x.example/q*'],
  ['first_last_name@some_host.example', 'first_last_name@some_host.example'],
  ['snake_case_word and 2*3*4 and a * b * c', 'snake_case_word and 2*3*4 and a * b * c'],
  ['one\\\ntwo', 'one\ntwo'],
  ['line one \\\nline two', 'line one\nline two'],
  ['line one  \nline two', 'line one\nline two'],
  ['one\n\n\\\ntwo', 'one\n\n\ntwo'],
  ['```\ncode  \nmore\n```', '```\ncode  \nmore\n```'],
  ['2\\*3\\*4 \\_a\\_ \\# 1\\. \\\\', '2*3*4 _a_ # 1. \\'],
  ['C:\\dir \\o/', 'C:\\dir \\o/'],
  ['\\*\\*plain\\*\\* **bold**', '**plain** *bold*'],
  ['[www.x.example/\\_a\\_](http://www.x.example/_a_)', 'www.x.example/_a_'],
  ['[https://x.example/a\\_(b)](https://x.example/a_%28b%29)', 'https://x.example/a_(b)'],
  ['***a** b* and ***a* b**', '_*a* b_ and *_a_ b*'],
  ['**a *b**', '*a *b*'],
  ['**two\n lines *x\ny***', '*two*\n *lines _x_*\n*_y_*'],
  ['*two\n  lines*', '_two_\n  _lines_'],
  ['text\n\n\\--\n\nAna', 'text\n\n--\n\nAna'],
  ['* one\n* two', '- one\n- two'],
  ['**two\nlines**', '*two*\n*lines*'],
  ['[@Ana](mention://user/3/Ana)', '@Ana'],
  ['![logo](https://x.example/l.png?cw_image_height=24px)', 'logo'],
  ['[mail](mailto:a@b.example)', 'mail (mailto:a@b.example)'],
  ['**', '**'],
  ['****', '****'],
  ['** not bold **', '** not bold **'],
  ['pages 5*', 'pages 5*'],
]

for (const [markdown, text] of rows) {
  test(`${JSON.stringify(markdown)} becomes ${JSON.stringify(text)}`, () => {
    assert.equal(markdownToText(markdown), text)
  })
}

const word = fc.stringMatching(/^[a-zA-Z0-9äéñ]{1,8}$/)
const phrase = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' '))
const atom = fc.oneof(
  phrase,
  phrase.map((text) => `*${text}*`),
  phrase.map((text) => `_${text}_`),
  phrase.map((text) => `~${text}~`),
  phrase.map((text) => `\`${text}\``),
  word.map((text) => `https://x.example/${text}_${text}_${text}`),
  word.map((text) => `${text}_${text}@mail.example`),
  word.map((text) => `${text}_${text}_${text}`),
)

test('what the network says comes back as it was after a way through Markdown', () => {
  fc.assert(
    fc.property(fc.array(atom, { minLength: 1, maxLength: 8 }), fc.constantFrom(' ', '\n', ', '), (atoms, between) => {
      const text = atoms.join(between)
      assert.equal(markdownToText(textToMarkdown(text)), text)
    }),
  )
})

test('addresses and words with underscores stay as they are between any other characters', () => {
  const address = fc.constantFrom(
    'https://x.example/a_b_c?d=*e*',
    'www.x.example/_a_',
    'a_b_c@x.example',
    'some_long_name',
  )
  fc.assert(
    fc.property(
      fc.array(atom, { maxLength: 4 }),
      address,
      fc.array(atom, { maxLength: 4 }),
      (before, middle, after) => {
        assert.ok(markdownToText([...before, middle, ...after].join(' ')).includes(middle))
      },
    ),
  )
})

test('any text is converted', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => typeof markdownToText(text) === 'string'),
  )
})

test('what a customer writes, quoted back by an agent, reaches the customer without backslashes', () => {
  const rows = [
    '2*3*4 = 24',
    '# 1',
    '1) one',
    '[x](y) and &amp;',
    'a -- b (c) ????',
    'C:\\*.*',
    '**x** ~~y~~ __z__',
    'www.x.example/_a_/b',
  ]
  for (const row of rows) assert.equal(markdownToText(`> ${textToMarkdown(row)}\n\nyes`), `> ${row}\n\nyes`)
  const soup = fc.string({ unit: fc.constantFrom(...Array.from('*_~[]()<>!#+-.,?&|"\'=:;{}^$%a1é ')), maxLength: 20 })
  fc.assert(
    fc.property(soup, (given) => {
      // What becomes a list or a mark on the way is not compared here.
      const text = given.trim()
      fc.pre(text === textToMarkdown(text).replace(/\\(?=[!-/:-@[-`{-~])/g, '') && !text.startsWith('* '))
      assert.ok(!markdownToText(textToMarkdown(text)).includes('\\'))
    }),
    { numRuns: 2000 },
  )
})

const marked = fc.string({
  unit: fc.constantFrom('*', '_', '~', 'a', '1', ' ', '-', '[', ']'),
  minLength: 1,
  maxLength: 12,
})
const code = fc.oneof(
  marked.map((text) => `\`${text}\``),
  marked.filter((text) => text.trim() !== '').map((text) => `\`\`\`\n${text}\n\`\`\``),
)
const url = fc
  .webUrl({ withQueryParameters: true, withFragments: true })
  // What a sentence puts behind an address, and marks that may close something, are not told from the address.
  .map((text) => text.replace(/[^a-zA-Z0-9/]+$/, ''))
const email = fc.stringMatching(/^[a-z][a-z0-9_.+-]{0,10}[a-z0-9]@[a-z]{1,8}\.example$/)

test('code, web and mail addresses come through both ways as they were, among marked words', () => {
  fc.assert(
    fc.property(
      fc.array(atom, { maxLength: 3 }),
      fc.oneof(code, url, email),
      fc.array(atom, { maxLength: 3 }),
      (before, kept, after) => {
        // A block of code has lines of its own.
        const text = [...before, kept, ...after].join(kept.includes('\n') ? '\n' : ' ')
        assert.ok(markdownToText(text).includes(kept), `to the network: ${markdownToText(text)}`)
        assert.equal(markdownToText(textToMarkdown(text)), text)
      },
    ),
    { numRuns: 2000 },
  )
})

test('what an agent marks in the editor keeps its words, and comes back marked the same', () => {
  const bold = phrase.map((text) => ({ markdown: `**${text}**`, text: `*${text}*` }))
  const italic = phrase.map((text) => ({ markdown: `*${text}*`, text: `_${text}_` }))
  const gone = phrase.map((text) => ({ markdown: `~~${text}~~`, text: `~${text}~` }))
  const plain = phrase.map((text) => ({ markdown: text, text }))
  const pieces = fc.array(fc.oneof(bold, italic, gone, plain), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(pieces, fc.constantFrom(' ', '\n\n', ', '), (list, between) => {
      const text = list.map((piece) => piece.text).join(between)
      assert.equal(markdownToText(list.map((piece) => piece.markdown).join(between)), text)
      assert.equal(markdownToText(textToMarkdown(text)), text)
    }),
  )
})

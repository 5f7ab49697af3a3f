import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { markdownToText } from './markdown-to-text.ts'
import { textToMarkdown } from './text-to-markdown.ts'

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

test('addresses and words with underscores stay as they are, whatever stands around them', () => {
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

test('any text is converted, and in time', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => typeof markdownToText(text) === 'string'),
  )
  for (const piece of ['y', '**a ', '[', '`a', '~~x ', '_a ', '<https://', '***a', '(', '*a', 'a@', '](']) {
    const started = performance.now()
    markdownToText(piece.repeat(Math.ceil(131_072 / piece.length)))
    assert.ok(performance.now() - started < 3000, `${piece} took ${performance.now() - started} ms`)
  }
})

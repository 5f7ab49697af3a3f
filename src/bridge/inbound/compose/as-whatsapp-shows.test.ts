import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { linksAtChatwoot, renderAtChatwoot, shownAtChatwoot } from '../../../../test/displays/chatwoot-display.ts'
import { describeLines, plainly } from '../../../../test/displays/shown-lines.ts'
import { shownAtWhatsApp } from '../../../../test/displays/whatsapp-display.ts'
import { plainToMarkdown, textToMarkdown } from './text-to-markdown.ts'

const numRuns = Number(process.env.RUNS ?? 3000)

const characters = fc.constantFrom(
  ...Array.from('**__~~``[]()<>!#+-.,?&|\\"\'=:;{}^$%'),
  ...Array.from('aacrtmx1203éß👍 €«'),
  ...[' ', ' ', '  ', '\t', '\u00a0'],
)
const pieces = fc.constantFrom(
  ...[
    '*',
    '**',
    '***',
    '_',
    '__',
    '~',
    '~~',
    '~~~',
    '`',
    '``',
    '```',
    '[a]',
    '](',
    '(x)',
    '(c)',
    '...',
    '..',
    '--',
    '---',
  ],
  ...[
    'a',
    'word',
    'two words',
    '2*3*4',
    '*bold*',
    '_it_',
    '~gone~',
    '`code`',
    '```code```',
    '\\',
    '&amp;',
    '&#42;',
    '![',
    '<a:b>',
  ],
  ...[' ', ' ', '. ', ', ', '👍', 'é', '????', '!!!!', ',,', '+-', '"', "don't", '1.', '|', '[a]: b', '[a](b "c")'],
)
const starts = fc.constantFrom(
  ...[
    '',
    '',
    '',
    '# ',
    '## x',
    '- ',
    '* ',
    '+ ',
    '1. ',
    '2. ',
    '1) ',
    '12. ',
    '> ',
    '>',
    '    ',
    '\t',
    '  ',
    '---',
    '***',
  ],
  ...['~~~', '```', '[a]: ', '|--|', '--|--', ':-|', '-', '*', '01. ', '* * ', '- - ', '___', '=== '],
)
const soup = fc.string({ unit: characters, maxLength: 14 })
const phrase = fc.array(pieces, { maxLength: 7 }).map((list) => list.join(''))
const line = fc
  .tuple(
    starts,
    fc.oneof(
      soup,
      phrase,
      fc.tuple(phrase, soup).map((two) => two.join('')),
    ),
  )
  .map((two) => two.join(''))
const text = fc.array(line, { minLength: 1, maxLength: 5 }).map((lines) => lines.join('\n'))

const address = fc.constantFrom(
  ...[
    'https://x.example/a_b',
    'https://x.example/_a_/*b*/~c',
    'https://youtu.be/_a--b__C',
    'http://x.example/?q=1&copy=2',
  ],
  ...[
    'https://x.example/wiki/Foo_(bar)',
    'https://x.example/a**b',
    'https://x.example/a[b](c)',
    'https://x.example/a--b..c',
  ],
  ...['www.x.com/_a_/b', 'www.x.com', 'x.com/*a*/b', 'first_last@x.com', 'HTTPS://X.example/~a/', 'https://x.example'],
)
const around = fc.constantFrom('', '', '()', '**', '__', '~~', '""', '<>', ' .', ' ,', ' ...', ' !', ' ?!', ' !!!!')

function shownAs(given: string) {
  return describeLines(shownAtChatwoot(textToMarkdown(given)))
}

describe('what the agent sees', () => {
  test('is what WhatsApp shows', () => {
    fc.assert(
      fc.property(text, (given) => {
        const { lines, isUncertain } = shownAtWhatsApp(given)
        fc.pre(!isUncertain)
        assert.deepEqual(shownAs(given), describeLines(lines), textToMarkdown(given))
      }),
      { numRuns },
    )
  })

  test('has every address whole, and it can be clicked', () => {
    fc.assert(
      fc.property(phrase, address, around, phrase, (before, kept, [open = '', close = ''], after) => {
        fc.pre(!before.includes('`'))
        const given = `${before} ${open.trim()}${kept}${close} ${after}`
        const { lines, isUncertain } = shownAtWhatsApp(given, [kept])
        fc.pre(!isUncertain)
        const markdown = textToMarkdown(given)
        assert.deepEqual(describeLines(shownAtChatwoot(markdown)), describeLines(lines), markdown)
        assert.ok(
          linksAtChatwoot(markdown).some(({ text: shown }) => shown === kept),
          markdown,
        )
      }),
      { numRuns },
    )
  })

  test('needs every backslash', () => {
    fc.assert(
      fc.property(line, (given) => {
        // The name of an entity may be unknown, and two hyphens may follow what is no link after all.
        fc.pre(!/&(?!amp;)[a-z]\w*;|\]\(--/.test(given))
        // Mixed marks as in ?!?! change only together with other typography.
        fc.pre(!/[?!]{4}/.test(given) || /^[^?!]*([?!])\1{3,}[^?!]*$/.test(given))
        // A long run gets a backslash before each mark, and so does a backtick behind an open square bracket and code.
        fc.pre(!/([*_~`])\1{6}|\[.*`.*`/.test(given))
        const markdown = textToMarkdown(given)
        const rendered = renderAtChatwoot(markdown)
        for (const { index } of markdown.matchAll(/\\/g)) {
          const without = markdown.slice(0, index) + markdown.slice(index + 1)
          assert.notEqual(renderAtChatwoot(without), rendered, `${markdown} without the backslash at ${index}`)
        }
      }),
      { numRuns },
    )
  })

  test('shows names and titles as they are, also above and below other text', () => {
    fc.assert(
      fc.property(line, line, (one, other) => {
        const plain = [one, other].map((text) => ({ kind: 'plain' as const, shown: plainly(text) }))
        fc.pre(one.trim() !== '' && other.trim() !== '')
        const markdown = `${plainToMarkdown(one)}\n${plainToMarkdown(other)}`
        assert.deepEqual(describeLines(shownAtChatwoot(markdown)), describeLines(plain), markdown)
      }),
      { numRuns },
    )
  })
})

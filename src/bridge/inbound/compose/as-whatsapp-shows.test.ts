import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { renderAtChatwoot, shownAtChatwoot } from '../../../../test/displays/chatwoot-display.ts'
import { describeLines } from '../../../../test/displays/shown-lines.ts'
import { shownAtWhatsApp } from '../../../../test/displays/whatsapp-display.ts'
import { textToMarkdown } from './text-to-markdown.ts'

const numRuns = Number(process.env.RUNS ?? 5000)

const characters = fc.constantFrom(
  ...Array.from('**__~~``[]()<>!#+-.,?&|\\"\'=:;{}^$%'),
  ...Array.from('aacrtmx1203éß👍 €«'),
  ...[' ', ' ', '  ', '\t', '\u00a0'],
)
const pieces = fc.constantFrom(
  ...['*', '**', '***', '_', '__', '~', '~~', '~~~', '`', '``', '```', '[a]', '](', '(x)', '(c)', '...', '..', '--', '---'],
  ...['a', 'word', 'two words', '2*3*4', '*bold*', '_it_', '~gone~', '`code`', '```code```', '\\', '&amp;', '&#42;', '![', '<a:b>'],
  ...[' ', ' ', '. ', ', ', '👍', 'é', '????', '!!!!', ',,', '+-', '"', "don't", '1.', '|', '[a]: b', '[a](b "c")'],
)
const starts = fc.constantFrom(
  ...['', '', '', '# ', '## x', '- ', '* ', '+ ', '1. ', '2. ', '1) ', '12. ', '> ', '>', '    ', '\t', '  ', '---', '***'],
  ...['~~~', '```', '[a]: ', '|--|', '--|--', ':-|', '-', '*', '01. ', '* * ', '- - ', '___', '=== '],
)
const soup = fc.string({ unit: characters, maxLength: 14 })
const phrase = fc.array(pieces, { maxLength: 7 }).map((list) => list.join(''))
const line = fc.tuple(starts, fc.oneof(soup, phrase, fc.tuple(phrase, soup).map((two) => two.join('')))).map((two) => two.join(''))
const text = fc.array(line, { minLength: 1, maxLength: 5 }).map((lines) => lines.join('\n'))

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

  test('needs every backslash', () => {
    fc.assert(
      fc.property(line, (given) => {
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
})

// Finds in one line what is not ordinary text: code, web and mail addresses, mentions, and WhatsApp's marks for bold, italic and
// strike. A mark whose place Markdown cannot express stays as the person typed it.

import { endsCleanly, findAddresses } from './addresses.ts'
import { flanksOf } from './characters.ts'
import { findCode } from './code.ts'
import type { Pair, Span } from './paragraph.ts'

type Mark = '*' | '_' | '~'
type Marked = { open: number; close: number; mark: Mark }

/** The Markdown for a mention of these digits, if they mean a person. */
export type MentionOf = (digits: string) => string | undefined

/** Whole tokens only: the beginning of a longer number is another id. */
const mention = /(?<![\p{L}\p{N}])@(\d{5,20})(?![\p{L}\p{N}])/gu

export function findSpans(line: string, { isPlain, mentionOf }: { isPlain: boolean; mentionOf: MentionOf }): Span[] {
  const code = isPlain ? [] : findCode(line).map(({ from, to }) => ({ from, to, markdown: line.slice(from, to) }))
  const taken = new Uint8Array(line.length)
  const take = (spans: readonly Span[]) => {
    const free = spans.filter(({ from }) => taken[from] === 0)
    for (const { from, to } of free) taken.fill(1, from, to)
    return free
  }
  const fixed = take(code)
  const addresses = findAddresses(line, isOpenIn(line)).filter(({ from }) => taken[from] === 0)
  for (const { from, to } of addresses) taken.fill(1, from, to)
  fixed.push(...take(findMentions(line, mentionOf)))
  const marked = isPlain ? [] : findMarks(line, (at) => taken[at] === 1)
  const closers = new Set(marked.filter(({ mark }) => mark === '*').map(({ close }) => close))
  for (const { isCalm, isShielded, text, link, from, to } of addresses) {
    const isWeb = text.includes('://')
    const tail = /^[^\s<>]*/.exec(line.slice(closers.has(to) ? to + 1 : to, to + 10))?.[0] ?? ''
    const isWhole = isWeb ? (isCalm || isShielded) && endsCleanly(tail) : isCalm
    fixed.push({ from, to, markdown: isWhole ? text : link, address: { link, isShielded: isWeb } })
  }
  fixed.sort((one, other) => one.from - other.from)
  return [...fixed, ...expressible(line, fixed, marked)].sort((one, other) => one.from - other.from)
}

function findMentions(line: string, mentionOf: MentionOf): Span[] {
  return [...line.matchAll(mention)].flatMap(({ 0: found, 1: digits = '', index }) => {
    const markdown = mentionOf(digits)
    return markdown === undefined ? [] : [{ from: index, to: index + found.length, markdown }]
  })
}

/** Whether the mark opens anywhere before a position. */
function isOpenIn(line: string): (mark: string, at: number) => boolean {
  const first = new Map<string, number>()
  for (const { 0: mark, index } of line.matchAll(/[*_~]/g)) {
    if (!first.has(mark) && opensAt(line, index, mark)) first.set(mark, index)
  }
  return (mark, at) => (first.get(mark) ?? Infinity) < at
}

/** The pairs of marks. Of two pairs that cross, the one that closes first counts. */
function findMarks(line: string, isTaken: (at: number) => boolean): Marked[] {
  const found: Marked[] = []
  let open: { at: number; mark: Mark }[] = []
  for (const { 0: char, index: at } of line.matchAll(/[*_~]/g)) {
    if (isTaken(at)) continue
    const mark = char as Mark
    const opener = open.findIndex((each) => each.mark === mark)
    if (opener >= 0 && closesAt(line, at, mark)) {
      found.push({ open: open[opener]?.at ?? 0, close: at, mark })
      open = open.slice(0, opener)
    } else if (opensAt(line, at, mark)) {
      open = [...open.filter((each) => each.mark !== mark), { at, mark }]
    }
  }
  return found
}

function opensAt(line: string, at: number, mark: string): boolean {
  const after = line.charAt(at + 1)
  return !isWordOr(mark, characterBefore(line, at)) && after !== '' && !/\s/.test(after) && after !== mark
}

function closesAt(line: string, at: number, mark: string): boolean {
  const before = line.charAt(at - 1)
  return !/\s/.test(before) && before !== mark && !isWordOr(mark, characterAfter(line, at))
}

// A mark inside a word, as in 2*3*4, is not a mark.
function isWordOr(mark: string, char: string): boolean {
  return char === mark || /[\p{L}\p{N}]/u.test(char)
}

function characterBefore(line: string, at: number): string {
  const isPair = /[\udc00-\udfff]/.test(line.charAt(at - 1)) && /[\ud800-\udbff]/.test(line.charAt(at - 2))
  return line.slice(Math.max(0, at - (isPair ? 2 : 1)), at)
}

function characterAfter(line: string, at: number): string {
  return String.fromCodePoint(...[line.codePointAt(at + 1)].filter((code) => code !== undefined))
}

/** The marks as spans, as far as Markdown can express them where they stand. */
function expressible(line: string, fixed: readonly Span[], marked: readonly Marked[]): Span[] {
  const last = new Map(fixed.map(({ to, markdown }) => [to, markdown.charAt(markdown.length - 1)]))
  const first = new Map(fixed.map(({ from, markdown }) => [from, markdown.charAt(0)]))
  const before = (at: number) => last.get(at) ?? line.charAt(at - 1)
  const after = (at: number) => first.get(at + 1) ?? line.charAt(at + 1)
  return marked.flatMap(({ open, close, mark }) => {
    const isBeside = (char: string) => [open, close].some((at) => before(at) === char || after(at) === char)
    const kinds = mark === '*' ? (['**'] as const) : mark === '~' ? (['~~'] as const) : (['_', '*'] as const)
    for (const markdown of kinds) {
      const opener = flanksOf(markdown.charAt(0), before(open), after(open))
      const closer = flanksOf(markdown.charAt(0), before(close), after(close))
      if (!opener.opens || !closer.closes || (markdown === '*' && isBeside('*'))) continue
      const length = markdown === '~~' ? 0 : markdown.length
      const pair: Pair = { markdown, length, closerOpens: closer.opens, openerCloses: opener.closes }
      return [open, close].map((from) => ({ from, to: from + 1, markdown, pair }))
    }
    return []
  })
}

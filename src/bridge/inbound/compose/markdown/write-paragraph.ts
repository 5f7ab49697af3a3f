// Writes one paragraph as Markdown: translates WhatsApp's marks and puts a backslash before exactly the characters that the
// renderer of the helpdesk would swallow or restyle.

import { escapeBackticks } from './backticks.ts'
import { isEscapable, runEnd } from './characters.ts'
import { Delimiters } from './delimiters.ts'
import type { PlacedPair } from './delimiters.ts'
import { guardLineStarts } from './line-starts.ts'
import type { Guards, Line } from './line-starts.ts'
import { escapeLinks } from './links.ts'
import { Paragraph } from './paragraph.ts'
import type { Pair, Span } from './paragraph.ts'
import { findSpans } from './spans.ts'
import type { MentionOf } from './spans.ts'
import { escapeTypography } from './typography.ts'

export type Manner = {
  /** The text has no formatting of WhatsApp: a name, a title, an option. It must be safe beside any other text. */
  isPlain: boolean
  mentionOf: MentionOf
}

const autolink = /<(?:[a-z][a-z0-9+.-]{1,31}:[^<>\0- ]*|[\w.!#$%&'*+/=?^`{|}~-]+@[a-z0-9.-]+)>/giy
// An unknown name stays as it is in Markdown too, but the list of the 2,000 known ones is not worth the exception.
const entity = /&(?:#(?:x[a-f0-9]{1,6}|[0-9]{1,7})|[a-z][a-z0-9]{1,31});/iy

export function writeParagraph(lines: readonly Line[], manner: Manner, followsList = false): string[] {
  const source = lines.map(({ text }) => text).join('\n')
  const paragraph = new Paragraph(source, spansOf(lines, manner))
  const guards = guardLineStarts(paragraph, lines, { followsList, isIsolated: manner.isPlain })
  escapeBackticks(paragraph, guards, manner.isPlain)
  escapeMarks(paragraph, guards, manner.isPlain)
  escapeSigns(paragraph, manner.isPlain)
  escapeTypography(paragraph)
  linkHiddenAddresses(paragraph)
  escapeLinks(paragraph, manner.isPlain)
  return paragraph
    .toMarkdown()
    .split('\n')
    .map((line, index) => (lines[index]?.prefix ?? '') + line)
}

function spansOf(lines: readonly Line[], manner: Manner): Span[] {
  const spans: Span[] = []
  let from = 0
  for (const { text } of lines) {
    for (const span of findSpans(text, manner)) spans.push({ ...span, from: span.from + from, to: span.to + from })
    from += text.length + 1
  }
  return spans
}

function escapeMarks(paragraph: Paragraph, { runs }: Guards, isIsolated: boolean): void {
  const { source } = paragraph
  const pairs = placedPairs(paragraph)
  const delimiters = new Delimiters([...pairs.values()], { isIsolated })
  for (let at = 0; at < source.length;) {
    const span = paragraph.spanAt(at)
    const pair = span?.pair && pairs.get(span.pair)
    if (pair?.open === at) delimiters.open(pair)
    if (pair?.close === at) delimiters.close(pair)
    const mark = source.charAt(at)
    if (span || !'*_~'.includes(mark)) {
      at = span?.to ?? at + 1
      continue
    }
    const end = textEnd(paragraph, at, runEnd(source, at))
    const before = lastOf(paragraph, at)
    const after = (paragraph.spanAt(end)?.markdown ?? source.charAt(end)).charAt(0)
    const run = { mark, at, length: end - at, before, after, mostAtStart: runs.get(at) ?? end - at }
    for (const position of delimiters.read(run)) paragraph.escape(position)
    at = end
  }
}

/** In the order in which they open. */
function placedPairs({ spans }: Paragraph): Map<Pair, PlacedPair> {
  const placed = new Map<Pair, PlacedPair>()
  for (const { pair, from } of spans) {
    if (!pair) continue
    const known = placed.get(pair)
    if (known) known.close = from
    else placed.set(pair, { ...pair, open: from, close: from })
  }
  return placed
}

function textEnd(paragraph: Paragraph, from: number, to: number): number {
  let end = from
  while (end < to && paragraph.isText(end)) end++
  return end
}

/** The last character of the Markdown before `at`. */
function lastOf(paragraph: Paragraph, at: number): string {
  if (at === 0 || paragraph.isText(at - 1)) return paragraph.source.charAt(at - 1)
  let start = at - 1
  while (!paragraph.spanAt(start)) start--
  return paragraph.spanAt(start)?.markdown.at(-1) ?? ''
}

/** Backslashes, automatic links in angle brackets, and entities. */
function escapeSigns(paragraph: Paragraph, isIsolated: boolean): void {
  const { source } = paragraph
  for (const { 0: sign, index: at } of source.matchAll(/[\\<&]/g)) {
    if (!paragraph.isText(at)) continue
    if (sign === '\\') escapeBackslash(paragraph, at, isIsolated)
    else if (matchesAt(sign === '<' ? autolink : entity, source, at)) paragraph.escape(at)
  }
}

function escapeBackslash(paragraph: Paragraph, at: number, isIsolated: boolean): void {
  const next = paragraph.spanAt(at + 1)?.markdown ?? paragraph.source.slice(at + 1, at + 3)
  const isLast = next === ''
  if (isLast ? isIsolated : isEscapable(next.charAt(0)) || next.startsWith('\n')) paragraph.escape(at)
  else if (!isLast) {
    // markdown-it takes the backslash and the next character together.
    paragraph.setSpecial(at)
    paragraph.setSpecial(at + 1)
    if ((next.codePointAt(0) ?? 0) > 0xffff) paragraph.setSpecial(at + 2)
  }
}

function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at
  return pattern.test(text)
}

/** The renderer finds no mail or web address without a scheme directly behind a backslash, so such an address becomes a link. */
function linkHiddenAddresses(paragraph: Paragraph): void {
  for (const span of paragraph.spans) {
    if (!span.address || span.address.isShielded || paragraph.spanAt(span.to)?.pair) continue
    const before = span.from - 1
    const isHidden =
      paragraph.isText(before) && !paragraph.isOrdinary(before) && paragraph.source.charAt(before) !== '\n'
    if (isHidden) span.markdown = span.address.link
  }
}

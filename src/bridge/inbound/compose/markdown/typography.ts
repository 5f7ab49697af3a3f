// Keeps markdown-it's typographer from changing characters: (c), (r), (tm), +-, runs of dots, commas, question and exclamation
// marks, and hyphens. Three dots stay: the reader reads the same in "…". Straight quotes stay for the same reason, because a
// backslash in every "don't" would show in notifications and previews.

import type { Paragraph } from './paragraph.ts'

const early = /[?!]{4,}|,{2,}|\((?:c|tm|r)\)/gi
/** markdown-it looks at a text only if it contains one of these. */
const occasion = /\+-|\.\.|\?{4}|!{4}|,,|--/
const dots = /\.{2,}/g
const hyphens = /\+?-+/g

export function escapeTypography(paragraph: Paragraph): void {
  const { source } = paragraph
  const hasOccasion = occasion.test(source)
  for (const { 0: run, index } of source.matchAll(early)) {
    if (!paragraph.isText(index) || (!hasOccasion && !run.startsWith('('))) continue
    const [first, every] = run.startsWith('(') ? [0, run.length] : run.startsWith(',') ? [1, 2] : [3, 4]
    for (let at = first; at < run.length; at += every) paragraph.escape(index + at)
  }
  if (!hasOccasion) return
  for (const { 0: run, index } of source.matchAll(dots)) {
    if (paragraph.isText(index)) escapeDots(paragraph, index, run.length)
  }
  for (const { 0: run, index } of source.matchAll(hyphens)) {
    if (paragraph.isText(index + run.length - 1)) escapeHyphens(paragraph, index, run)
  }
}

/** Leaves single dots and threes; after a question or exclamation mark, where three would lose a dot, twos. */
function escapeDots(paragraph: Paragraph, from: number, length: number): void {
  const over = length % 4
  for (let at = over; at < length; at += 4) paragraph.escape(from + at)
  const isAfterMark = paragraph.isOrdinary(from - 1) && /[?!]/.test(paragraph.source.charAt(from - 1))
  if (over === (isAfterMark ? 3 : 2)) paragraph.escape(from + 1)
}

function escapeHyphens(paragraph: Paragraph, start: number, run: string): void {
  const from = run.startsWith('+') ? start + 1 : start
  if (from > start && paragraph.isOrdinary(start)) paragraph.escape(from)
  const to = start + run.length
  const isCut = paragraph.isEscaped(from)
  const piece = isCut ? from + 1 : from
  const length = to - piece
  const isDash = length === 3 || (length === 2 && (isCut || isDashBetween(paragraph, piece, to)))
  if (isDash) paragraph.escape(piece + 1)
}

/** Two hyphens become a dash between spaces and between words, but not after a space and before a word. */
function isDashBetween(paragraph: Paragraph, from: number, to: number): boolean {
  const [left, right] = [neighbour(paragraph, from - 1, -1), neighbour(paragraph, to, 1)]
  return left === 'edge' || right === 'edge' || left === right
}

/** Spaces at the edge of a line disappear before the typographer sees the line. */
function neighbour(paragraph: Paragraph, at: number, step: 1 | -1): 'edge' | 'space' | 'other' {
  const { source } = paragraph
  // A round bracket behind a square one may get a backslash later.
  if (!paragraph.isOrdinary(at) || source.slice(at - 1, at + 1) === '](') return 'edge'
  if (!/\s/.test(source.charAt(at))) return 'other'
  let end = at
  while (paragraph.isOrdinary(end) && /\s/.test(source.charAt(end))) end += step
  return source.charAt(end) === '' || source.charAt(end) === '\n' ? 'edge' : 'space'
}

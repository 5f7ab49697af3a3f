// Guards the beginnings of lines, where Markdown would begin a heading, a list, a quote, a rule, code or a table.

import { runEnd } from './characters.ts'
import type { Paragraph } from './paragraph.ts'

export type Line = {
  /** What we write before the line: a list mark, a quote mark or nothing. */
  prefix: string
  text: string
}

export type Guards = {
  /** Runs of marks that must be broken up, with the most marks that may stay together at their start. */
  runs: Map<number, number>
}

const rule = /^([-*_])(?:[ \t]*\1){2,}[ \t]*$/
const tableRule = /^[|:-][-|: \t]+$/
const noBreakSpace = '\u00a0'

type Surroundings = {
  /** An indented line would belong to the list before it. */
  followsList: boolean
  /** Any text may stand above, also the head of a table. */
  isIsolated: boolean
}

export function guardLineStarts(paragraph: Paragraph, lines: readonly Line[], around: Surroundings): Guards {
  const { followsList, isIsolated } = around
  const guards: Guards = { runs: new Map() }
  let from = 0
  for (const [index, { prefix, text }] of lines.entries()) {
    const indent = /^[ \t]*/.exec(text)?.[0] ?? ''
    const isFirst = index === 0
    const isDeep = indent.length > 3 || indent.includes('\t')
    if ((isFirst && followsList && prefix === '' && indent !== '') || (isDeep && (isFirst || prefix !== ''))) {
      // Indented text would be code. HTML shows no leading spaces anyway.
      paragraph.replace(from, noBreakSpace)
    } else if (indent.length < 4) {
      const above = lines[index - 1]?.text ?? (isIsolated ? '|' : '')
      guardLine(paragraph, guards, {
        at: from + indent.length,
        text: text.slice(indent.length),
        isFirst,
        prefix,
        above,
      })
    }
    from += text.length + 1
  }
  return guards
}

type Start = { at: number; text: string; isFirst: boolean; prefix: string; above: string }

function guardLine(paragraph: Paragraph, guards: Guards, { at, text, isFirst, prefix, above }: Start): void {
  if (!paragraph.isText(at)) return
  const mark = text.charAt(0)
  const run = runEnd(text, 0)
  if (rule.test(text) || (isFirst && rule.test(prefix + text))) guardRule(paragraph, guards, at, text)
  else if (/^#{1,6}(?:[ \t]|$)/.test(text) || mark === '>') paragraph.escape(at)
  else if (/^[-+*](?:[ \t]|$)/.test(text) && (isFirst || !isBlank(text.slice(1))))
    guardMark(paragraph, guards, at, mark)
  else if (mark === '~' && run > 2) guards.runs.set(at, 2)
  else if (mark === '`' && run > 2 && !text.includes('`', run)) guards.runs.set(at, 2)
  else if (above.includes('|') && tableRule.test(text)) guardTable(paragraph, at, text)
  else guardNumber(paragraph, at, text, isFirst)
}

function guardMark(paragraph: Paragraph, guards: Guards, at: number, mark: string): void {
  if (mark === '*') guards.runs.set(at, 0)
  else paragraph.escape(at)
}

function guardRule(paragraph: Paragraph, guards: Guards, at: number, text: string): void {
  if (text.charAt(0) !== '-') guards.runs.set(at, runEnd(text, 0) - 1)
  // Two or three hyphens get a backslash later, because they would become a dash. A single one would still begin a list.
  else if (/^-[ \t]/.test(text) || !/(?<!-)-{2,3}(?!-)/.test(text)) paragraph.escape(at)
}

function guardTable(paragraph: Paragraph, at: number, text: string): void {
  const border = text.search(/[|:]/)
  if (border >= 0) paragraph.escape(at + border)
}

/** A number with a dot or a bracket. Inside a paragraph only the number 1 begins a list. */
function guardNumber(paragraph: Paragraph, at: number, text: string, isFirst: boolean): void {
  const [whole, digits = ''] = /^(\d{1,9})[.)](?=[ \t]|$)/.exec(text) ?? []
  if (whole === undefined) return
  if (isFirst || (Number(digits) === 1 && !isBlank(text.slice(whole.length)))) paragraph.escape(at + digits.length)
}

/** Other white space is text for markdown-it. */
function isBlank(text: string): boolean {
  return /^[ \t]*$/.test(text)
}

// Splits a text of WhatsApp into rows: plain lines, quotes, items of lists, blank lines and blocks of code.

import { findCode } from './code.ts'

export type Row = {
  kind: 'blank' | 'plain' | 'quote' | 'item' | 'code'
  /** The mark of a quote or of an item. */
  prefix: string
  text: string
}

export function rowsOf(text: string): Row[] {
  const rows: Row[] = []
  let from = 0
  for (const { from: start, to } of findCode(text)) {
    const code = text.slice(start + 3, to - 3)
    if (!code.includes('\n')) continue
    for (const row of linesBetween(text.slice(from, start), from > 0, true)) rows.push(row)
    rows.push({ kind: 'code', prefix: '', text: code.replace(/^[ \t]*\n/, '').replace(/\n[ \t]*$/, '') })
    from = to
  }
  return keepNumbers([...rows, ...linesBetween(text.slice(from), from > 0, false)])
}

export function plainRowOf(line: string): Row {
  return { kind: /^[ \t]*$/.test(line) ? 'blank' : 'plain', prefix: '', text: line }
}

/** A block of code takes the empty rest of its first and of its last line. */
function linesBetween(text: string, followsCode: boolean, precedesCode: boolean): Row[] {
  const rows = text.split('\n').map(rowOf)
  if (followsCode && rows[0]?.kind === 'blank') rows.shift()
  if (precedesCode && rows.at(-1)?.kind === 'blank') rows.pop()
  return rows
}

function rowOf(line: string): Row {
  const [prefix] = /^(?:> |[-*] |\d{1,9}\. )/.exec(line) ?? []
  if (prefix === undefined || line.slice(prefix.length).trim() === '') return plainRowOf(line)
  return { kind: prefix === '> ' ? 'quote' : 'item', prefix, text: line.slice(prefix.length) }
}

/** Markdown counts the items of a list itself, so a numbered list stays one only if it counts up by one. */
function keepNumbers(rows: readonly Row[]): Row[] {
  const kept: Row[] = []
  let group: Row[] = []
  const endGroup = () => {
    const numbers = group.filter(({ kind }) => kind === 'item').map(({ prefix }) => prefix.slice(0, -2))
    const counts = numbers.every((number, index) => number === String(Number(numbers[0]) + index))
    for (const row of group) kept.push(counts && interrupts(row, kept.at(-1)) ? row : plainAgain(row))
    group = []
  }
  for (const row of rows) {
    const isNumber = row.kind === 'item' && /^\d/.test(row.prefix)
    if (isNumber || (row.kind === 'blank' && group.length > 0)) group.push(row)
    else {
      endGroup()
      kept.push(row)
    }
  }
  endGroup()
  return kept
}

/** Directly after a line of text, only the number 1 begins a list. */
function interrupts({ prefix }: Row, before: Row | undefined): boolean {
  return before?.kind !== 'plain' || prefix === '1. '
}

function plainAgain(row: Row): Row {
  return row.kind === 'item' ? plainRowOf(row.prefix + row.text) : row
}

// Keeps backticks that WhatsApp shows as they are from becoming code. markdown-it closes code at the next run of the same length
// and does not see backslashes there, so only the backslash before an opener helps.

import type { Guards } from './line-starts.ts'
import type { Paragraph } from './paragraph.ts'

export function escapeBackticks(paragraph: Paragraph, { runs }: Guards, isIsolated: boolean): void {
  /** The lengths of the runs behind the current one. */
  const behind = new Set<number>()
  const found = [...paragraph.source.matchAll(/`+/g)]
  const confusing = confusingRuns(paragraph)
  for (const { 0: run, index } of found.reverse()) {
    if (!paragraph.isText(index)) {
      behind.add(run.length)
      continue
    }
    const most = runs.get(index) ?? run.length
    const escapes = isIsolated || confusing.has(index) ? allOf(run.length) : choose(run.length, most, behind)
    for (const at of escapes) paragraph.escape(index + at)
    for (const length of piecesOf(run.length, escapes)) behind.add(length)
  }
}

/**
 * Runs that would make markdown-it forget code before them: it looks ahead from an open square bracket, finds that the run closes
 * nothing, and then takes no later look at the code between the two.
 */
function confusingRuns(paragraph: Paragraph): Set<number> {
  const confusing = new Set<number>()
  let open = 0
  let openBeforeCode = 0
  for (const { 0: sign, index } of paragraph.source.matchAll(/[[\]]|`+/g)) {
    if (!paragraph.isText(index)) {
      if (sign.startsWith('`')) openBeforeCode = open
    } else if (sign === '[') open++
    else if (sign === ']') openBeforeCode = Math.min(openBeforeCode, (open = Math.max(0, open - 1)))
    else if (openBeforeCode > 0) confusing.add(index)
  }
  return confusing
}

/** None, or one that is enough, or all. */
function choose(length: number, most: number, behind: ReadonlySet<number>): number[] {
  if (length <= most && !behind.has(length)) return []
  for (let at = 0; at < length; at++) {
    const [before, after] = [at, length - at - 1]
    const opensBefore = before > 0 && (behind.has(before) || before === length - at)
    if (!opensBefore && !(after > 0 && behind.has(after))) return [at]
  }
  return allOf(length)
}

/** The runs that a search for a closer meets: a backslash begins a new one. */
function piecesOf(length: number, escapes: readonly number[]): number[] {
  const borders = [0, ...escapes, length]
  return borders.slice(1).map((to, index) => to - (borders[index] ?? 0))
}

function allOf(length: number): number[] {
  return Array.from({ length }, (_, index) => index)
}

// Follows which marks could become emphasis in markdown-it, so that exactly the marks that would get a backslash. The rules are
// those of CommonMark: a closer takes the nearest opener of its kind, unless the rule of three forbids the two.

import { flanksOf } from './characters.ts'
import type { Pair } from './paragraph.ts'

type Opener = { kind: string; pair: PlacedPair | null }
type Closer = { length: number; opens: boolean }
type Piece = { length: number; count: number; opens: boolean; closes: boolean }

/** A pair of WhatsApp's marks, with the positions of the two. */
export type PlacedPair = Pair & { open: number; close: number }

/** A run of one mark in the text. */
export type Run = {
  mark: string
  at: number
  length: number
  before: string
  after: string
  /** The most marks that may stay together at the beginning of the run. */
  mostAtStart: number
}

/** In longer runs only a few choices are tried before the whole run gets backslashes. */
const longestRun = 6
const lengths = [0, 1, 2] as const

export class Delimiters {
  readonly #stack: Opener[] = []
  readonly #counts = new Map<string, number>()
  readonly #isIsolated: boolean
  /** The pairs around the current position. */
  readonly #around: PlacedPair[] = []
  /** The pairs whose first mark could close an earlier mark, the next one last. */
  readonly #closing: Record<string, PlacedPair[]> = {}

  /** Isolated: no mark may open or close anything, so that the text is safe beside any other text. */
  constructor(pairs: readonly PlacedPair[], { isIsolated }: { isIsolated: boolean }) {
    this.#isIsolated = isIsolated
    for (const pair of pairs.toReversed()) if (pair.openerCloses) (this.#closing[pair.markdown] ??= []).push(pair)
  }

  /** The positions of the run that need a backslash, as few as possible. */
  read(run: Run): number[] {
    const ahead = this.#closersAhead(run)
    const choices = this.#isIsolated ? isolatedChoicesOf(run) : choicesOf(run.length)
    const escapes = choices.find((choice) => this.#isSafe(run, choice, ahead)) ?? allOf(run.length)
    for (const { length, count, opens, closes } of piecesOf(run, escapes)) {
      if (!opens) continue
      for (let each = 0; each < count; each++) this.#push({ kind: kindOf(run.mark, length, closes), pair: null })
    }
    return escapes.map((index) => run.at + index)
  }

  open(pair: PlacedPair): void {
    this.#push({ kind: kindOf(pair.markdown.charAt(0), pair.length, pair.openerCloses), pair })
    this.#around.push(pair)
  }

  close(pair: PlacedPair): void {
    this.#around.pop()
    for (let top = this.#stack.pop(); top; top = this.#stack.pop()) {
      this.#count(top.kind, -1)
      if (top.pair === pair) break
    }
  }

  /** What could close a mark of the run: the end of the pair around it, and the beginnings of later pairs. */
  #closersAhead({ mark, at }: Run): Closer[] {
    const around = this.#around.findLast(({ markdown }) => markdown.startsWith(mark))
    const closers = around ? [{ length: around.length, opens: around.closerOpens }] : []
    const end = this.#around.at(-1)?.close ?? Infinity
    for (const markdown of [mark, mark + mark]) {
      const pairs = this.#closing[markdown]
      while (pairs && (pairs.at(-1)?.open ?? Infinity) < at) pairs.pop()
      const next = pairs?.at(-1)
      if (next && next.open < end) closers.push({ length: next.length, opens: true })
    }
    return closers
  }

  #isSafe(run: Run, escapes: readonly number[], ahead: readonly Closer[]): boolean {
    if ((escapes[0] ?? run.length) > run.mostAtStart) return false
    const earlier: string[] = []
    for (const { length, count, opens, closes } of piecesOf(run, escapes)) {
      if (count === 0) continue
      if (this.#isIsolated && (opens || closes)) return false
      const takes = closes ? kindsFor(run.mark, { length, opens }) : []
      if (takes.some((kind) => (this.#counts.get(kind) ?? 0) > 0 || earlier.includes(kind))) return false
      if (!opens) continue
      const kind = kindOf(run.mark, length, closes)
      if (ahead.some((closer) => kindsFor(run.mark, closer).includes(kind))) return false
      earlier.push(kind)
    }
    return true
  }

  #push(opener: Opener): void {
    this.#stack.push(opener)
    this.#count(opener.kind, 1)
  }

  #count(kind: string, change: 1 | -1): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + change)
  }
}

/** Openers of one kind behave alike towards every closer. */
function kindOf(mark: string, length: number, closes: boolean): string {
  return `${mark}${length % 3}${closes ? 'both' : 'open'}`
}

/** The kinds of openers that the closer takes. */
function kindsFor(mark: string, { length, opens }: Closer): string[] {
  return lengths.flatMap((other) =>
    [false, true].flatMap((closes) => {
      const isOdd = (closes || opens) && (other + length) % 3 === 0 && (other !== 0 || length % 3 !== 0)
      return isOdd ? [] : [kindOf(mark, other, closes)]
    }),
  )
}

/** The marks between the backslashes. Two tildes are one mark, and a single tilde is none. */
function piecesOf({ mark, length, before, after }: Run, escapes: readonly number[]): Piece[] {
  const borders = [-1, ...escapes, length]
  return borders.slice(1).flatMap((to, index) => {
    const size = to - (borders[index] ?? -1) - 1
    if (size <= 0) return []
    // A mark with a backslash stands before the piece, the backslash of the next one behind it.
    const flanks = flanksOf(mark, index === 0 ? before : mark, to === length ? after : '\\')
    const isTilde = mark === '~'
    return [{ length: isTilde ? 0 : size, count: isTilde ? Math.floor(size / 2) : size, ...flanks }]
  })
}

/** All choices of positions in a short run, the smallest first. */
const choices = Array.from({ length: longestRun + 1 }, (_, length) =>
  Array.from({ length: 2 ** length }, (__, mask) => allOf(length).filter((bit) => mask & (1 << bit))).sort(
    (one, other) => one.length - other.length,
  ),
)

function choicesOf(length: number): readonly number[][] {
  return choices[length] ?? [[], [0], [1], [2], [0, 1], [0, 2], [1, 2]]
}

/** Beside a backslash every mark opens or closes, so it is none or all. Only of tildes a single one may stay. */
function isolatedChoicesOf({ mark, length }: Run): readonly number[][] {
  return mark === '~' ? [[], allOf(length).filter((index) => index % 2 === length % 2)] : [[]]
}

function allOf(length: number): number[] {
  return Array.from({ length }, (_, index) => index)
}

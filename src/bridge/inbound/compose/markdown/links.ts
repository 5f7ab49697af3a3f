// Keeps text in brackets from becoming a link, an image or the definition of a link. The backslash stands before the round
// bracket: [text]\(address).

import type { Paragraph } from './paragraph.ts'

/** markdown-it gives up on an address with more brackets. */
const deepest = 32

/** Isolated: the other half of a link may stand in the text before or behind. */
export function escapeLinks(paragraph: Paragraph, isIsolated: boolean): void {
  if (isIsolated) escapeHalves(paragraph)
  else escapeWhole(paragraph)
}

function escapeHalves(paragraph: Paragraph): void {
  for (const { index } of paragraph.source.matchAll(/(?<=\])\(/g)) {
    if (paragraph.isText(index)) paragraph.escape(index)
  }
  // The label of a definition ends before a colon, or in the text behind.
  const indent = /^( {0,3})\[[^\]]*(?:$|\]:)/.exec(paragraph.source)?.[1]
  if (indent !== undefined && paragraph.isText(indent.length)) paragraph.escape(indent.length)
}

function escapeWhole(paragraph: Paragraph): void {
  const { source } = paragraph
  const joints = findJoints(paragraph)
  const first = /^ {0,3}(?=\[)/.exec(source)?.[0].length
  if (joints.size === 0 && first === undefined) return
  // From the end, because a backslash can change whether a link begins before it. The buffer holds the Markdown behind `at`.
  const buffer = new Text(paragraph.toMarkdown().length + joints.size)
  for (let at = source.trimEnd().length - 1; at >= 0; at--) {
    if (joints.has(at) && !paragraph.isEscaped(at)) {
      buffer.prepend('(')
      if (!isLink(buffer)) continue
      paragraph.escape(at)
      buffer.prepend('\\')
    } else if (at === first && paragraph.isText(at)) {
      buffer.prepend('[')
      if (isDefinition(buffer)) paragraph.escape(at)
    } else buffer.prepend(paragraph.markdownAt(at))
  }
}

/** The round brackets behind a pair of square brackets. */
function findJoints(paragraph: Paragraph): Set<number> {
  const joints = new Set<number>()
  let open = 0
  for (const { 0: bracket, index } of paragraph.source.matchAll(/[[\]]/g)) {
    if (!paragraph.isText(index)) continue
    if (bracket === '[') open++
    else if (open > 0) {
      open--
      if (paragraph.source.charAt(index + 1) === '(' && paragraph.isText(index + 1)) joints.add(index + 1)
    }
  }
  return joints
}

/** A text that grows at its beginning. Positions count from its current beginning. */
class Text {
  readonly #codes: Uint16Array
  #from: number
  /** Where the address ends that begins at a place. Places count from the end of the text, so they stay as the text grows. */
  readonly #targetEnds = new Map<number, number | null>()

  constructor(length: number) {
    this.#codes = new Uint16Array(length)
    this.#from = length
  }

  /** Undefined when no address was looked for at this position. */
  knownTargetEnd(at: number): number | null | undefined {
    const place = this.#targetEnds.get(this.#placeOf(at))
    return place === undefined || place === null ? place : this.#codes.length - this.#from - place
  }

  noteTargetEnd(at: number, end: number | null): void {
    this.#targetEnds.set(this.#placeOf(at), end === null ? null : this.#placeOf(end))
  }

  #placeOf(at: number): number {
    return this.#codes.length - this.#from - at
  }

  prepend(text: string): void {
    for (let at = text.length - 1; at >= 0; at--) this.#codes[--this.#from] = text.charCodeAt(at)
  }

  charAt(at: number): string {
    const code = this.#codes[this.#from + at]
    return code === undefined ? '' : String.fromCharCode(code)
  }
}

/** Whether the text, which begins with a round bracket, is the address and title of a link. */
function isLink(text: Text): boolean {
  const start = skipSpaces(text, 1)
  const target = targetEnd(text, start)
  if (target === null) return text.charAt(start) === ')'
  const gap = skipSpaces(text, target)
  const title = gap > target ? titleEnd(text, gap) : null
  return text.charAt(title === null ? gap : skipSpaces(text, title)) === ')'
}

/** Whether the text, which begins with a square bracket, defines a link. The renderer would swallow it. */
function isDefinition(text: Text): boolean {
  let at = 1
  for (; text.charAt(at) !== ']'; at++) {
    if (text.charAt(at) === '\\') at++
    if (text.charAt(at) === '' || text.charAt(at) === '[') return false
  }
  if (text.charAt(at + 1) !== ':') return false
  const target = targetEnd(text, skipSpaces(text, at + 2))
  if (target === null) return false
  const gap = skipSpaces(text, target)
  const title = gap > target ? titleEnd(text, gap) : null
  return endsLine(text, target) || (title !== null && endsLine(text, title))
}

function targetEnd(text: Text, start: number): number | null {
  if (text.charAt(start) === '<') return angleEnd(text, start)
  const end = plainTargetEnd(text, start)
  text.noteTargetEnd(start, end)
  return end === start ? null : end
}

/**
 * An address that begins inside another one, outside of its brackets, ends where the other one ends. Without that shortcut, a
 * text of nothing but beginnings of links would be read to its end for each of them.
 */
function plainTargetEnd(text: Text, start: number): number | null {
  let depth = 0
  let at = start
  for (let char = text.charAt(at); char > ' ' && char !== '\u007f'; char = text.charAt(++at)) {
    const known = depth === 0 && at > start ? text.knownTargetEnd(at) : undefined
    if (known !== undefined) return known
    if (char === '\\' && text.charAt(at + 1) === ' ') break
    if (char === '\\' && text.charAt(at + 1) !== '') at++
    else if (char === '(' && ++depth > deepest) return null
    else if (char === ')' && --depth < 0) break
  }
  return depth > 0 ? null : at
}

function angleEnd(text: Text, start: number): number | null {
  for (let at = start + 1; ; at++) {
    const char = text.charAt(at)
    if (char === '>') return at + 1
    if (char === '' || char === '\n' || char === '<') return null
    if (char === '\\') at++
  }
}

function titleEnd(text: Text, start: number): number | null {
  const quote = text.charAt(start)
  if (quote !== '"' && quote !== "'" && quote !== '(') return null
  const end = quote === '(' ? ')' : quote
  for (let at = start + 1; ; at++) {
    const char = text.charAt(at)
    if (char === end) return at + 1
    if (char === '' || (char === '(' && end === ')')) return null
    if (char === '\\') at++
  }
}

function skipSpaces(text: Text, start: number): number {
  let at = start
  while (text.charAt(at) !== '' && ' \t\n'.includes(text.charAt(at))) at++
  return at
}

function endsLine(text: Text, start: number): boolean {
  let at = start
  while (/[^\S\n]/.test(text.charAt(at))) at++
  return text.charAt(at) === '' || text.charAt(at) === '\n'
}

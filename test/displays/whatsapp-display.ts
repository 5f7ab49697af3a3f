// A small model of what WhatsApp shows of a text. It shares no code with the bridge.

import type { Shown, ShownLine, Style } from './shown-lines.ts'
import { plainly } from './shown-lines.ts'

type Display = {
  lines: ShownLine[]
  /** A mark stands beside a symbol, where Markdown may not be able to express it. */
  isUncertain: boolean
}

/** A character that stands for a finished piece: code or an address. */
type Pieces = Map<string, Shown[]>

const styleOf: Record<string, Style> = { '*': 'bold', _: 'italic', '~': 'strike' }

export function shownAtWhatsApp(text: string, addresses: readonly string[] = []): Display {
  const pieces: Pieces = new Map()
  const blocks = new Map<string, string>()
  const uncertain = { is: false }
  const put = (shown: Shown[]) => {
    const key = String.fromCharCode(0xe100 + pieces.size)
    pieces.set(key, shown)
    return key
  }
  const withoutCode = replaceCode(text, (code) => {
    if (!code.includes('\n')) return put(plainly(code.trim(), ['code']))
    const key = String.fromCharCode(0xf100 + blocks.size)
    blocks.set(key, code.replace(/^[ \t]*\n/, '').replace(/\n[ \t]*$/, ''))
    return `\n${key}\n`
  })
  const flat = addresses.reduce((rest, address) => rest.replaceAll(address, () => put(plainly(address))), withoutCode)
  const lines = flat.split('\n').map((line): ShownLine => {
    const block = blocks.get(line)
    if (block !== undefined) return { kind: 'code', shown: plainly(block) }
    const [, mark = '', rest = line] = /^(> |[-*] )?(.*)$/s.exec(line) ?? []
    if (mark === '' || rest.trim() === '')
      return { kind: /^[ \t]*$/.test(line) ? 'gap' : 'plain', shown: styled(line, pieces, uncertain) }
    return { kind: mark === '> ' ? 'quote' : 'bullet', shown: styled(rest, pieces, uncertain) }
  })
  return { lines, isUncertain: uncertain.is }
}

function replaceCode(text: string, put: (code: string) => string): string {
  const code = /(?<!`)```(?!`)([\s\S]*?)(?<!`)```(?!`)|(?<!`)`(?!`)([^`\n]+)`(?!`)/g
  let done = ''
  let from = 0
  for (let match = code.exec(text); match; match = code.exec(text)) {
    const content = match[1] ?? match[2] ?? ''
    if (content.trim() === '') {
      code.lastIndex = match.index + (match[1] === undefined ? 1 : 3)
      continue
    }
    done += text.slice(from, match.index) + put(content)
    from = code.lastIndex
  }
  return done + text.slice(from)
}

function styled(line: string, pieces: Pieces, uncertain: { is: boolean }): Shown[] {
  const chars = Array.from(line)
  const pairs = pairsIn(chars)
  for (const [open, close] of pairs) {
    if (isSymbol(chars[open - 1], pieces) || isSymbol(chars[close + 1], pieces)) uncertain.is = true
  }
  return chars.flatMap((char, at) => {
    if (pairs.some((pair) => pair.includes(at))) return []
    const styles = pairs
      .filter(([open, close]) => open < at && at < close)
      .map(([open]) => styleOf[chars[open] ?? ''] ?? 'bold')
    const piece = pieces.get(char) ?? [{ char, styles: [] }]
    return piece.map((each) => ({ char: each.char, styles: [...styles, ...each.styles] }))
  })
}

function pairsIn(chars: readonly string[]): [open: number, close: number][] {
  const pairs: [number, number][] = []
  let openers: number[] = []
  chars.forEach((mark, at) => {
    if (!(mark in styleOf)) return
    const [before = '', after = ''] = [chars[at - 1], chars[at + 1]]
    const isWord = (char: string) => char === mark || /^[\p{L}\p{N}]/u.test(char)
    const isEdge = (char: string) => char === '' || char === mark || /\s/.test(char)
    const opener = openers.find((each) => chars[each] === mark)
    if (opener !== undefined && !isEdge(before) && !isWord(after)) {
      pairs.push([opener, at])
      openers = openers.slice(0, openers.indexOf(opener))
    } else if (!isEdge(after) && !isWord(before)) openers = [...openers.filter((each) => chars[each] !== mark), at]
  })
  return pairs
}

/** Neither a space nor punctuation, as an emoji. */
function isSymbol(char: string | undefined, pieces: Pieces): boolean {
  if (char === undefined || pieces.has(char)) return false
  return !/[\t-\r \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\p{P}!-/:-@[-`{-~]/u.test(char)
}

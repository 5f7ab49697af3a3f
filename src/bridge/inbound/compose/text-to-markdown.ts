// Turns WhatsApp's text marks into the Markdown of the helpdesk. *bold* and ~strike~ double their marks; _italic_ and code are
// the same in both. Code, web addresses and mail addresses stay as they are.

const untouched = /```[\s\S]*?```|`[^`\n]+`|\b[a-z][a-z0-9+.-]*:\/\/\S+|\bwww\.\S+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+/giu
const marks = ['*', '~'] as const

export function textToMarkdown(text: string): string {
  if (!marks.some((mark) => text.includes(mark))) return text
  const isKept = keptPositions(text)
  const doubled = new Set(marks.flatMap((mark) => pairsOf(text, mark, isKept)))
  return Array.from({ length: text.length }, (_, at) => (doubled.has(at) ? text.charAt(at).repeat(2) : text[at])).join(
    '',
  )
}

function keptPositions(text: string): (at: number) => boolean {
  const ranges = [...text.matchAll(untouched)].map(({ 0: found, index }) => {
    // A mark at the end of an address closes a mark that was opened before the address.
    const kept = found.startsWith('`') ? found : found.replace(/[*_~.,;:!?)]+$/, '')
    return { from: index, to: index + kept.length }
  })
  return (at) => ranges.some(({ from, to }) => at >= from && at < to)
}

/** The positions of the marks that form pairs. A pair is on one line. */
function pairsOf(text: string, mark: string, isKept: (at: number) => boolean): number[] {
  const found: number[] = []
  let open: number | undefined
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '\n') open = undefined
    if (char !== mark || isKept(at)) continue
    if (open !== undefined && closes(text, at, mark)) {
      found.push(open, at)
      open = undefined
    } else if (opens(text, at, mark)) open = at
  }
  return found
}

function opens(text: string, at: number, mark: string): boolean {
  const [before, after] = [text.charAt(at - 1), text.charAt(at + 1)]
  return !isWordOr(mark, before) && after !== '' && !/\s/.test(after) && after !== mark
}

function closes(text: string, at: number, mark: string): boolean {
  const [before, after] = [text.charAt(at - 1), text.charAt(at + 1)]
  return !/\s/.test(before) && before !== mark && !isWordOr(mark, after)
}

// A mark inside a word, as in 2*3*4, is not a mark.
function isWordOr(mark: string, char: string): boolean {
  return char === mark || /[\p{L}\p{N}]/u.test(char)
}

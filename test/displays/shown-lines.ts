// The common form in which tests compare what WhatsApp shows and what Chatwoot shows: visible lines with styled characters.

export type Style = 'bold' | 'italic' | 'strike' | 'code'

export type Shown = { char: string; styles: readonly Style[] }

export type ShownLine = { kind: 'plain' | 'quote' | 'bullet' | 'code' | 'gap' | `unexpected ${string}`; shown: Shown[] }

export function plainly(text: string, styles: readonly Style[] = []): Shown[] {
  return Array.from(text, (char) => ({ char, styles }))
}

/**
 * One string per visible line. HTML shows white space as one space and none at the edges of a line. The typographer's curly
 * quotes and its ellipsis read like the straight quotes and the three dots.
 */
export function describeLines(lines: readonly ShownLine[]): string[] {
  const described: { kind: ShownLine['kind']; text: string }[] = []
  for (const { kind, shown } of lines) {
    const text = kind === 'code' ? shown.map(({ char }) => char).join('') : describe(shown)
    if (kind === 'gap' || text !== '') described.push({ kind, text })
  }
  const isPlain = (line: (typeof described)[number] | undefined) => line?.kind === 'plain' && !/^\d+\. /.test(line.text)
  return described.flatMap(({ kind, text }, at) => {
    // Blank lines count between lines of text only, and several count as one.
    if (kind !== 'gap') return [`${kind}: ${text}`]
    return isPlain(described[at - 1]) && isPlain(described.slice(at).find((each) => each.kind !== 'gap')) ? ['gap'] : []
  })
}

function describe(shown: readonly Shown[]): string {
  let text = ''
  let last = ''
  let space: string | null = null
  for (const { char, styles } of shown) {
    if (/\s/.test(char)) {
      space ??= tagOf(styles)
      continue
    }
    const tag = tagOf(styles)
    if (text !== '' && space !== null)
      text +=
        last === tag && space === tag
          ? ' '
          : last === space
            ? ` ${switchTo(tag)}`
            : `${switchTo(space)} ${space === tag ? '' : switchTo(tag)}`
    else if (tag !== last) text += switchTo(tag)
    text += alike(char)
    ;[last, space] = [tag, null]
  }
  return text
}

function tagOf(styles: readonly Style[]): string {
  return [...new Set(styles)].sort().join('+')
}

function switchTo(tag: string): string {
  return `{${tag}}`
}

function alike(char: string): string {
  if (char === '\0') return '\uFFFD'
  if (char === '…') return '...'
  return char.replace(/[“”]/, '"').replace(/[‘’]/, "'")
}

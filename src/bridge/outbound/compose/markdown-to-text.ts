// Converts the Markdown of the helpdesk into the formatting marks of WhatsApp. text-to-markdown.ts does the reverse.

// Private characters stand for finished pieces while the rest is converted. If a text contains one, it is set aside as well.
const [aside, bold, italic, strike] = ['\uE000', '\uE001', '\uE002', '\uE003'] as const
const marks: Record<string, string> = { [bold]: '*', [italic]: '_', [strike]: '~' }

// Every repetition is bounded, or ends where the next match would begin, so that a hostile text cannot take long.
const setAside = new RegExp(
  [
    '```[\\s\\S]*?```|`[^`\\n]{1,4000}`',
    '!?\\[[^\\]\\n]{0,500}\\]\\([^()\\s]{0,2000}(?:\\([^()\\s]{0,2000}\\)[^()\\s]{0,2000})?\\)',
    '<(?:https?://|mailto:)[^<>\\s]+>|(?:https?://|www\\.)[^\\s<>\\uE000]+',
    '(?<![\\p{L}\\p{N}._%+-])[\\p{L}\\p{N}._%+-]+@[\\p{L}\\p{N}-]+(?:\\.[\\p{L}\\p{N}-]+)+',
    '[\\uE000-\\uE003]',
  ].join('|'),
  'gu',
)

const word = '[\\p{L}\\p{N}]'

type Rule = { pattern: RegExp; marks: string }

// The longest mark comes first. Single marks count only at the edges of words, so 2*3*4 and snake_case stay as they are.
const rules: readonly Rule[] = [
  { pattern: /\*\*\*(?=[^\s*])((?:(?!\*\*\*|\n\n)[\s\S]){1,800}?)(?<=[^\s*])\*\*\*/gu, marks: bold + italic },
  { pattern: /\*\*(?=[^\s*])((?:(?!\n\n)[\s\S]){1,800}?)(?<=\S)\*\*(?!\*)/gu, marks: bold },
  { pattern: /~~(?=[^\s~])((?:(?!~~|\n\n)[\s\S]){1,800}?)(?<=[^\s~])~~/gu, marks: strike },
  { pattern: edged('\\*', '*'), marks: italic },
  { pattern: edged('_', '_'), marks: italic },
]

export function markdownToText(markdown: string): string {
  const kept: string[] = []
  const text = markdown.replace(/\r\n?/g, '\n').replace(setAside, (found, at: number, whole: string) => {
    const { shown, rest } = settle(found, whole[at - 1])
    kept.push(shown)
    return aside + rest
  })
  const breaks = text
    .replace(/\\\n/g, '\n')
    .replace(/^\\(?=--)/gm, '')
    .replace(/^([ \t]*)\*(?=[ \t]+\S)/gm, '$1-')
  const marked = rules.reduce((before, { pattern, marks: wrap }) => replaceAll(before, pattern, wrap), breaks)
  const plain = marked.replace(/[\uE001-\uE003]/g, (mark) => marks[mark] ?? '')
  return plain.replaceAll(aside, () => kept.shift() ?? '')
}

function edged(mark: string, character: string): RegExp {
  const not = character === '*' ? '\\*' : '_'
  return new RegExp(
    `(?<!${word}|${not})${mark}(?=[^\\s${not}])((?:(?!${mark}|\\n\\n)[\\s\\S]){1,800}?)(?<=[^\\s${not}])${mark}(?!${word}|${not})`,
    'gu',
  )
}

/** A mark of WhatsApp ends at a line break, so each line gets its own marks. */
function replaceAll(text: string, pattern: RegExp, wrap: string): string {
  const end = Array.from(wrap).reverse().join('')
  return text.replace(pattern, (_whole, inner: string) =>
    inner.replace(/[^\n]+/g, (line) => (line.trim() === '' ? line : wrapLine(line, wrap, end))),
  )
}

function wrapLine(line: string, wrap: string, end: string): string {
  const [, before = '', body = '', after = ''] = /^(\s*)(.*?)(\s*)$/su.exec(line) ?? []
  return before + wrap + body + end + after
}

/** What is shown of code, a link or an address, and the characters behind it that do not belong to it. */
function settle(found: string, before: string | undefined): { shown: string; rest: string } {
  const link = /^(!?)\[([^\]\n]*)\]\((.*)\)$/su.exec(found)
  if (link) return { shown: showLink(link[1] === '!', link[2] ?? '', link[3] ?? ''), rest: '' }
  if (found.startsWith('<')) return { shown: found.slice(1, -1).replace(/^mailto:/, ''), rest: '' }
  if (!/^(?:https?:|www\.)/.test(found)) return { shown: found, rest: '' }
  // **https://…** and _https://…_ : the marks belong to the text.
  const tail = (before === '_' ? /[*~_]+$/ : /[*~]+$/).exec(found)?.[0] ?? ''
  return { shown: found.slice(0, found.length - tail.length), rest: tail }
}

function showLink(isImage: boolean, label: string, url: string): string {
  const text = label.replace(/\*\*|~~/g, '')
  if (url.startsWith('mention:')) return text
  if (isImage) return text === '' ? url : text
  const bare = (address: string) => address.replace(/^(?:https?:\/\/|mailto:)/, '').replace(/\/$/, '')
  return text === '' || bare(text) === bare(url) ? url.replace(/^mailto:/, '') : `${text} (${url})`
}

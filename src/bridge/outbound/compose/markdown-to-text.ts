// Converts the Markdown of the helpdesk into the formatting marks of WhatsApp. text-to-markdown.ts does the reverse.

import { emphasize } from './emphasis.ts'

// A private character stands for a finished piece while the rest is converted. If a text contains one, it is set aside as well.
const aside = '\uE000'

const punctuation = '[!-/:-@\\[-`{-~]'

// Each repetition ends where the next match could begin, so that a hostile text cannot take long.
const setAside = new RegExp(
  [
    '```[\\s\\S]*?```|`[^`\\n]+`',
    `\\\\(?<escaped>${punctuation})`,
    `(?<image>!?)\\[(?<label>(?:\\\\${punctuation}|[^\\[\\]\\n\\\\]|\\\\(?!${punctuation}))*)\\]` +
      '\\((?<url>[^()\\s]*(?:\\([^()\\s]*\\)[^()\\s]*)?)\\)',
    '<(?:https?://|mailto:)[^<>\\s]+>|(?:https?://|www\\.)[^\\s<>\\uE000]+',
    '(?<![\\p{L}\\p{N}._%+-])[\\p{L}\\p{N}._%+-]+@[\\p{L}\\p{N}-]+(?:\\.[\\p{L}\\p{N}-]+)+',
    '\\uE000',
  ].join('|'),
  'gu',
)

type Found = { escaped?: string; image?: string; label?: string; url?: string }

export function markdownToText(markdown: string): string {
  const kept: string[] = []
  const text = markdown.replace(/\r\n?/g, '\n').replace(setAside, (found: string, ...rest: unknown[]) => {
    const groups = rest.at(-1) as Found
    const [at, whole] = rest.slice(-3, -1) as [number, string]
    const { shown, behind } = settle(found, groups, whole.charAt(at - 1))
    kept.push(shown)
    return aside + behind
  })
  // A hard break is a backslash or two spaces before the line break. None of them stays.
  const lines = text.replace(/(?<![ \t])[ \t]*\\?\n/g, '\n').replace(/^([ \t]*)\*(?=[ \t]+\S)/gm, '$1-')
  let next = 0
  return emphasize(lines).replaceAll(aside, () => kept[next++] ?? '')
}

/** What is shown of code, a character with a backslash, a link or an address, and the characters behind that do not belong to it. */
function settle(found: string, groups: Found, before: string): { shown: string; behind: string } {
  const { escaped, image, label, url } = groups
  if (escaped !== undefined) return { shown: escaped, behind: '' }
  if (label !== undefined) return { shown: showLink(image === '!', unescape(label), unescape(url ?? '')), behind: '' }
  if (found.startsWith('<')) return { shown: found.slice(1, -1).replace(/^mailto:/, ''), behind: '' }
  if (!/^(?:https?:|www\.)/.test(found)) return { shown: found, behind: '' }
  // **https://…** and _https://…_ : the marks belong to the text.
  const end = endBeforeMarks(found, before === '_' ? '*~_' : '*~')
  return { shown: found.slice(0, end), behind: found.slice(end) }
}

function endBeforeMarks(text: string, marks: string): number {
  let end = text.length
  while (marks.includes(text.charAt(end - 1)) && end > 0) end--
  return end
}

function showLink(isImage: boolean, label: string, url: string): string {
  const text = label.replace(/\*\*|~~/g, '')
  if (url.startsWith('mention:')) return text
  if (isImage) return text === '' ? url : text
  const address = withBrackets(url)
  if (address === label || address === `http://${label}` || address === `mailto:${label}`) return label
  const bare = (one: string) => one.replace(/^(?:https?:\/\/|mailto:)/, '').replace(/\/$/, '')
  return text === '' || bare(text) === bare(url) ? url.replace(/^mailto:/, '') : `${text} (${url})`
}

function unescape(text: string): string {
  return text.replace(new RegExp(`\\\\(${punctuation})`, 'g'), '$1')
}

/** text-to-markdown.ts writes the brackets of an address in percent form. */
function withBrackets(url: string): string {
  return url.replace(/%(?:28|29|3C|3E|5B|5C|5D)/g, decodeURIComponent)
}

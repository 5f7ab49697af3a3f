// Finds web and mail addresses in a line. An address stays whole and clickable: as it is where the renderer finds all of it by
// itself, else as a Markdown link. A backslash inside of an address would end the link.

import { escapeAll } from './escape-all.ts'

export type Address = { from: number; to: number; text: string; link: string; isShielded: boolean; isCalm: boolean }

const rest = '[^\\s<>`]'
const found = new RegExp(
  [
    `(?<![\\p{L}\\p{N}.+-])(?<web>(?:https?|ftp)://${rest}+)`,
    `(?<![\\p{L}\\p{N}@.-])(?<bare>www\\.${rest}+)`,
    '(?<![\\p{L}\\p{N}_.+-])(?<mail>_*[a-z0-9][\\w.+-]*@(?:[a-z0-9-]+\\.)+[a-z0-9-]*[a-z0-9])',
    `(?<![\\p{L}\\p{N}@./-])(?<path>(?:[a-z0-9-]+\\.)+[a-z]{2,}/${rest}*)`,
  ].join('|'),
  'giu',
)

// markdown-it reads such an address in one piece before it looks for marks. It leaves out asterisks at the end.
const host = '(?:[a-z0-9]+-)*[a-z0-9]+(?:\\.(?:[a-z0-9]+-)*[a-z0-9]+)*(?::\\d{1,4})?'
const piece = '[\\w*~%+=&#$@:/-]|[.,;?!](?=[\\w*~%+=&#$@:/-])|\\([\\w-]*\\)'
const shielded = new RegExp(`^(?:https?|ftp)://${host}(?:[/?#](?:${piece})*)?(?<!\\*)$`, 'i')

// Nothing in such an address is ever taken for a mark or for typography.
const calm = /^(?:[\p{L}\p{N}@/:?=%#;$~&.,!+-]|(?<=[\p{L}\p{N}])_(?=[\p{L}\p{N}]))+$/u
const lively = /~~|--|\.\.|,,|\+-|[?!]{2}|&#|&[a-z0-9]+;/i

const trailing = /[*_~.,;:!?'")\]}]/

/** `isOpen`: whether a mark may be open before a position, so that a mark at the end of an address closes it. */
export function findAddresses(line: string, isOpen: (mark: string, at: number) => boolean): Address[] {
  return [...line.matchAll(found)].flatMap((match) => {
    const { web, mail } = match.groups ?? {}
    const leading = mail === undefined ? 0 : mail.length - mail.replace(/^_+/, '').length
    const from = match.index + leading
    const text = trimmed(match[0].slice(leading), (mark) => isOpen(mark, from))
    if (!/[\p{L}\p{N}]/u.test(text.replace(/^\w+:\/\//, ''))) return []
    const scheme = web === undefined ? (mail === undefined ? 'http://' : 'mailto:') : ''
    // markdown-it takes the part before an @ for a user name.
    const hasUser = /^\w+:\/\/[^/]*@/.test(text)
    const isShielded = web !== undefined && !hasUser && shielded.test(text)
    const isCalm = !hasUser && calm.test(text) && !lively.test(text)
    return [{ from, to: from + text.length, text, link: linkOf(text, scheme + text), isShielded, isCalm }]
  })
}

/** What a sentence puts behind an address does not belong to it; a bracket belongs to it if it was opened inside. */
function trimmed(text: string, isOpen: (mark: string) => boolean): string {
  let end = text.length
  let unclosed = (text.match(/\(/g)?.length ?? 0) - (text.match(/\)/g)?.length ?? 0)
  for (; end > 0 && trailing.test(text.charAt(end - 1)); end--) {
    const char = text.charAt(end - 1)
    if ('*_~'.includes(char) && !isOpen(char)) break
    if (char !== ')') continue
    if (unclosed >= 0) break
    unclosed++
  }
  return text.slice(0, end)
}

function linkOf(text: string, address: string): string {
  const target = address
    .replace(/[()<>\\[\]\p{Cc}]/gu, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
    .replaceAll('&', '\\&')
  return `[${escapeAll(text)}](${target})`
}

/** Whether the renderer ends a web address where we end it, with `tail` up to the next white space behind it. */
export function endsCleanly(tail: string): boolean {
  return /^[)\]"']*(?:[.,;:]|\.{3}|[!?]{1,3})?$/.test(tail)
}

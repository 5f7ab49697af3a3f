// The part of Liquid that outgoing text meets: variables, a few filters, and tags, except inside backticks.

import type { ConversationRow, Sender } from '../state/rows.ts'

// It cannot occur in a text: PostgreSQL stores no zero character.
const mark = '\u0000'

type EventContext = { conversation: ConversationRow; sender: Sender | null }

const knownTags = new Set(
  [
    ['assign', 'capture', 'endcapture', 'if', 'elsif', 'else', 'endif', 'unless', 'endunless', 'case', 'when'],
    ['endcase', 'for', 'endfor', 'break', 'continue', 'cycle', 'tablerow', 'endtablerow', 'increment', 'decrement'],
    ['comment', 'endcomment', 'raw', 'endraw'],
  ].flat(),
)

/** Text that is no valid Liquid stays as it is; an unknown variable becomes nothing. */
export function renderLiquid(text: string, scene: EventContext): string {
  if (!text.includes('{{') && !text.includes('{%')) return text
  const kept: string[] = []
  const open = text.replace(/`[^`]*`/g, (code) => `${mark}${kept.push(code) - 1}${mark}`)
  if (!isWellFormed(open)) return text
  const variables = variablesOf(scene)
  const rendered = open
    .replace(/\{%-?\s*comment\s*-?%\}[^]*?\{%-?\s*endcomment\s*-?%\}/g, '')
    .replace(/\{%[^]*?%\}/g, '')
    .replace(/\{\{-?([^]*?)-?\}\}/g, (_, expression: string) => evaluate(expression, variables))
  return rendered
    .split(mark)
    .map((piece, at) => (at % 2 === 1 ? (kept[Number(piece)] ?? '') : piece))
    .join('')
}

function isWellFormed(text: string): boolean {
  const rest = text.replace(/\{%-?\s*(\w*)[^]*?%\}/g, (whole, tag: string) => (knownTags.has(tag) ? '' : whole))
  return !rest.includes('{%') && !rest.replace(/\{\{[^]*?\}\}/g, '').includes('{{')
}

function evaluate(expression: string, variables: Record<string, string>): string {
  const [name = '', ...filters] = expression.split('|').map((part) => part.trim())
  const literal = /^(['"])(.*)\1$/.exec(name)?.[2]
  return filters.reduce(applyFilter, literal ?? variables[name] ?? '')
}

function applyFilter(value: string, filter: string): string {
  const [name, argument = ''] = filter.split(':').map((part) => part.trim())
  if (name === 'default') return value === '' ? argument.replace(/^['"]|['"]$/g, '') : value
  if (name === 'upcase') return value.toUpperCase()
  if (name === 'downcase') return value.toLowerCase()
  if (name === 'capitalize') return capitalized(value)
  return value
}

function variablesOf({ conversation, sender }: EventContext): Record<string, string> {
  const { contact, inbox, account } = conversation
  const agent = sender?.type === 'User' ? sender.user : conversation.assignee
  return {
    ...named('contact', contact.name),
    'contact.email': contact.email ?? '',
    'contact.phone_number': contact.phoneNumber ?? '',
    ...named('agent', agent?.name ?? ''),
    'agent.email': agent?.email ?? '',
    'conversation.display_id': String(conversation.displayId),
    'inbox.name': inbox.name,
    'account.name': account.name,
  }
}

function named(of: string, name: string): Record<string, string> {
  const words = name.split(/\s+/).filter(Boolean).map(capitalized)
  return {
    [`${of}.name`]: words.join(' '),
    [`${of}.first_name`]: words[0] ?? '',
    [`${of}.last_name`]: words.length > 1 ? (words.at(-1) ?? '') : '',
  }
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()
}

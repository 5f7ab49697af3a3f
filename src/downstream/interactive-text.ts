// Writes the choices, fields, cards and articles of an interactive message below its text, because WhatsApp gets only a text.

import type { Payload } from './payload.ts'

type Item = Record<string, unknown>
/** How the items of a kind are written, and what stands between them. */
type Kind = { write: (item: Item) => string; between: string }

const kinds = new Map<unknown, Kind>([
  ['input_select', { write: writeChoice, between: '\n' }],
  ['form', { write: writeField, between: '\n' }],
  ['cards', { write: writeCard, between: '\n\n' }],
  ['article', { write: writeArticle, between: '\n\n' }],
])

/** The text of a message as a customer can read it. An item that makes no sense is left out. */
export function textOf(message: Payload): string {
  const text = message.text('content') ?? ''
  const kind = kinds.get(message.raw('content_type'))
  if (!kind) return text
  const items = itemsIn(message.object('content_attributes').raw('items')).map(kind.write)
  return joined([text, joined(items, kind.between)], '\n\n')
}

function writeChoice(item: Item): string {
  return entry(wordsOf(item, 'title') || wordsOf(item, 'value'))
}

/** A field to fill in, with its options if it has any. */
function writeField(item: Item): string {
  const label = wordsOf(item, 'label') || wordsOf(item, 'placeholder') || wordsOf(item, 'name')
  const options = itemsIn(item['options']).map((option) => wordsOf(option, 'label') || wordsOf(option, 'value'))
  return entry(joined([label, joined(options, ', ')], ': '))
}

function writeCard(item: Item): string {
  const head = [heading(wordsOf(item, 'title')), wordsOf(item, 'description'), wordsOf(item, 'media_url')]
  return joined([...head, ...itemsIn(item['actions']).map(writeAction)], '\n')
}

/** A button with a link becomes the link. */
function writeAction(action: Item): string {
  const [text, link] = [wordsOf(action, 'text'), wordsOf(action, 'uri')]
  return link === '' ? entry(text) : joined([text, link], ': ')
}

function writeArticle(item: Item): string {
  return joined([heading(wordsOf(item, 'title')), wordsOf(item, 'description'), wordsOf(item, 'link')], '\n')
}

function heading(title: string): string {
  return title === '' || title.includes('*') ? title : `**${title}**`
}

function entry(text: string): string {
  return text === '' ? '' : `- ${text}`
}

function joined(texts: readonly string[], between: string): string {
  return texts.filter((text) => text !== '').join(between)
}

function itemsIn(list: unknown): Item[] {
  return Array.isArray(list) ? list.filter((item): item is Item => typeof item === 'object' && item !== null) : []
}

/** A text or a number, on one line. */
function wordsOf(item: Item, name: string): string {
  const value = Object.hasOwn(item, name) ? item[name] : undefined
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim().replace(/\s+/g, ' ') : ''
}

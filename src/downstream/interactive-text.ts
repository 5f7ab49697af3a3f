// Writes the choices, fields, cards and articles of an interactive message below its text, because WhatsApp gets only a text.
// Each choice of the customer has a number. The numbers go on from one card or field to the next.

import type { Locale } from '../core/reasons/sentences.ts'
import { NumberedChoices } from './numbered-choices.ts'
import type { Payload } from './payload.ts'
import { readSurvey } from './survey-text.ts'

type Item = Record<string, unknown>
/** How the items of a kind are written, and what stands between them. `isOnly` says that there are no others. */
type Kind = { write: (item: Item, choices: NumberedChoices, isOnly: boolean) => string; between: string }

/**
 * The text of a message as a customer can read it, and the titles of its choices. `lacksLink`: the link of a survey is
 * missing.
 */
type InteractiveText = { content: string; choices: readonly string[]; lacksLink: boolean }

const kinds = new Map<unknown, Kind>([
  ['input_select', { write: writeChoice, between: '\n' }],
  ['form', { write: writeField, between: '\n' }],
  ['cards', { write: writeCard, between: '\n\n' }],
  ['article', { write: writeArticle, between: '\n\n' }],
])

const emailRequest: Record<Locale, string> = {
  en: 'Please reply with your e-mail address.',
  es: 'Responda con su dirección de correo electrónico, por favor.',
  pt: 'Responda com o seu endereço de e-mail, por favor.',
}

/** An item that makes no sense is left out. */
export function interactiveTextOf(message: Payload, locale: Locale): InteractiveText {
  const type = message.raw('content_type')
  if (type === 'input_csat') return { choices: [], ...readSurvey(message) }
  const text = message.text('content') ?? ''
  const plain = { choices: [], lacksLink: false }
  if (type === 'input_email') return { ...plain, content: joined([text, emailRequest[locale]], '\n\n') }
  const kind = kinds.get(type)
  if (!kind) return { ...plain, content: text }
  const numbered = new NumberedChoices()
  const items = itemsIn(message.object('content_attributes').raw('items'))
  const written = items.map((item) => kind.write(item, numbered, items.length === 1))
  const content = joined([text, joined(written, kind.between)], '\n\n')
  return { ...plain, content, choices: numbered.titles }
}

function writeChoice(item: Item, choices: NumberedChoices): string {
  return choices.add(wordsOf(item, 'title') || wordsOf(item, 'value'))
}

/** A question, with a hint and its options if it has any. */
function writeField(item: Item, choices: NumberedChoices): string {
  const names = ['label', 'title', 'placeholder', 'name'].map((name) => wordsOf(item, name))
  const question = names.find((each) => each !== '') ?? ''
  const hints = ['placeholder', 'default'].map((name) => wordsOf(item, name)).filter((each) => each !== question)
  const hint = joined(hints, ', ')
  const options = optionsIn(item['options']).map((option) => choices.add(option, question))
  const asked = hint === '' || question === '' ? question : `${question} (${hint})`
  const isList = asked !== '' && options.some((option) => option !== '')
  return joined([isList ? `${asked}:` : asked, ...options], '\n')
}

/** Buttons without a link are choices. A card without such buttons is a choice itself, if there are other cards. */
function writeCard(item: Item, choices: NumberedChoices, isOnly: boolean): string {
  const title = wordsOf(item, 'title')
  const actions = itemsIn(item['actions'])
  const isChoice = !isOnly && !actions.some((action) => choiceOf(action) !== '')
  const head = isChoice ? choices.add(title, '', heading(title)) : heading(title)
  const buttons = actions.map((action) => writeLink(action) || choices.add(choiceOf(action), title))
  return joined([head, wordsOf(item, 'description'), wordsOf(item, 'media_url'), ...buttons], '\n')
}

/** A button with a link becomes the link. */
function writeLink(action: Item): string {
  const [text, link] = [wordsOf(action, 'text'), wordsOf(action, 'uri')]
  if (link !== '') return joined([text, link], ': ')
  return action['type'] === 'link' ? text : ''
}

function choiceOf(action: Item): string {
  return writeLink(action) === '' ? wordsOf(action, 'text') || wordsOf(action, 'payload') : ''
}

function writeArticle(item: Item, choices: NumberedChoices, isOnly: boolean): string {
  const title = wordsOf(item, 'title')
  const head = isOnly ? heading(title) : choices.add(title, '', heading(title))
  return joined([head, wordsOf(item, 'description'), wordsOf(item, 'link')], '\n')
}

function heading(title: string): string {
  return title === '' || title.includes('*') ? title : `**${title}**`
}

function joined(texts: readonly string[], between: string): string {
  return texts.filter((text) => text !== '').join(between)
}

function itemsIn(list: unknown): Item[] {
  return Array.isArray(list) ? list.filter((item): item is Item => typeof item === 'object' && item !== null) : []
}

/** Chatwoot does not check the options of a field: some bots send texts instead of objects. */
function optionsIn(list: unknown): string[] {
  if (!Array.isArray(list)) return []
  const options = list.map((option: unknown) => (isObject(option) ? option : { label: option }))
  return options.map((option) => wordsOf(option, 'label') || wordsOf(option, 'value'))
}

function isObject(value: unknown): value is Item {
  return typeof value === 'object' && value !== null
}

/** A text or a number, on one line. */
function wordsOf(item: Item, name: string): string {
  const value = Object.hasOwn(item, name) ? item[name] : undefined
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim().replace(/\s+/g, ' ') : ''
}

// Writes the text of a message for the helpdesk: the header, the quote, then the words or the caption.

import type { DownstreamLimits } from '../../../core/downstream.ts'
import type { NewMessage } from '../../../core/helpdesk/message.ts'
import type { Ad, Content } from '../../../core/message.ts'
import { fillHeader } from '../../people/names.ts'
import type { KnownPerson } from '../../people/names.ts'
import { escapeName } from './markdown/escape-all.ts'
import { mentionsOf } from './mentions.ts'
import { plainToMarkdown, textToMarkdown } from './text-to-markdown.ts'
import type { Texts } from './texts.ts'

/** Room for the sentence that a text was cut. */
export const noticeLength = 2000
const quotedCharacters = 200

export type RenderSettings = {
  headerTemplate: string
  mentionTemplate: string
  groupHeaderSeparator: string
  reactionHeaderSeparator: string
}

export type TextLimits = Pick<DownstreamLimits, 'fits' | 'safeLength'>

export type RenderedQuote = { author: KnownPerson | null; text: string | null; mentioned?: readonly KnownPerson[] }

export type Parts = {
  /** The sender, where the header must name one. */
  header: KnownPerson | null
  separator: string
  quote: RenderedQuote | null
  body: string
}

/** How a message of this person begins. */
export function renderHeader(person: KnownPerson, template: string): string {
  return fillHeader(template, person, escapeName)
}

export function renderMessage({ header, separator, quote, body }: Parts, settings: RenderSettings): string {
  const head = header === null ? '' : renderHeader(header, settings.headerTemplate)
  const quoted = quote === null ? '' : renderQuote(quote, settings.mentionTemplate)
  const rest = [quoted, body].filter((part) => part !== '').join('\n\n')
  return [head, rest].filter((part) => part !== '').join(separator)
}

/** `renderMessage` puts a blank line after the quote, so that Markdown does not take the text into it. */
export function renderQuote({ author, text, mentioned = [] }: RenderedQuote, mentionTemplate: string): string {
  const who = author === null ? '' : fillHeader('$phone · $name', author)
  const lines = text === null || text === '' ? [] : renderText(quotable(text), mentioned, mentionTemplate).split('\n')
  return [`\`${['↪', who].filter((part) => part !== '').join(' ')}\``, ...lines].map((line) => `> ${line}`).join('\n')
}

/** A mention that is cut in half cannot be resolved, so it is dropped. */
function quotable(text: string): string {
  const beginning = firstCharacters(text, quotedCharacters)
  return /^\d/.test(text.slice(beginning.length)) ? beginning.replace(/@\d*$/, '') : beginning
}

/** The words of a person as Markdown, with names for mentions. */
export function renderText(text: string, mentioned: readonly KnownPerson[], template: string): string {
  return textToMarkdown(text, mentionsOf(mentioned, template))
}

type Writing = { texts: Texts; written: (text: string) => string }

/** The text of a content; empty for a file without a caption. */
export function renderContent(content: Content, { texts, written }: Writing): string {
  switch (content.type) {
    case 'text':
      return written(content.text)
    case 'media':
      return content.caption === null ? '' : written(content.caption)
    case 'location':
      return renderLocation(content, { texts, written })
    case 'contacts':
      return content.cards
        .map(({ name, phones, organisation }) => plainToMarkdown(lines([`👤 ${name}`, organisation, ...phones])))
        .join('\n\n')
    case 'poll':
      return lines([plainToMarkdown(texts.poll(content.question)), ...content.options.map(renderOption)])
    case 'choice':
      return plainToMarkdown(lines([content.text, content.description]))
    case 'album':
      return texts.album(content.images, content.videos)
    case 'view_once':
      return texts.viewOnce(texts.media[content.media ?? 'file'])
    case 'mark':
      return texts.mark[content.mark]
    case 'unsupported':
      return lines([
        plainToMarkdown(texts.unsupported(content.name)),
        content.text === null ? null : written(content.text),
      ])
  }
}

export function renderAd({ title, body, url }: Ad, texts: Texts): string {
  return plainToMarkdown(lines([title === null ? texts.ad : `${texts.ad}: ${title}`, body, url]))
}

/** Cuts a text that is longer than the helpdesk takes, and says so. */
export function truncate(text: string, type: NewMessage['type'], limits: TextLimits, texts: Texts): string {
  if (limits.fits(text, type)) return text
  const beginning = firstCharacters(text, limits.safeLength - noticeLength)
  return `${beginning}${endOfCut(beginning)}\n\n${texts.truncated}`
}

/** A cut can leave a block of code open, which would take in the notice, or a backslash without its character. */
function endOfCut(text: string): string {
  const fences = text.match(/^(?:> )?`{3,}$/gm) ?? []
  const last = fences.at(-1) ?? ''
  if (fences.length % 2 === 1) return `\n${last}`
  return (/\\+$/.exec(text.slice(-100))?.[0].length ?? 0) % 2 === 1 ? '\\' : ''
}

function renderLocation(
  { name, address, latitude, longitude, caption, live }: Extract<Content, { type: 'location' }>,
  { texts, written }: Writing,
): string {
  const title = live ? texts.liveLocation : name === null ? texts.location : `📍 ${name}`
  const link = `https://maps.google.com/?q=${latitude},${longitude}`
  const place = plainToMarkdown(lines([title, live ? name : null, address]))
  return lines([place, link, caption === null ? null : written(caption)])
}

function renderOption(option: string): string {
  return `- ${plainToMarkdown(option.replace(/(?<!\s)\s*\n\s*/g, ' '))}`
}

function lines(parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== '').join('\n')
}

/** Never cuts a character in half. */
export function firstCharacters(text: string, count: number): string {
  if (text.length <= count) return text
  return Array.from(text.slice(0, count * 2))
    .slice(0, count)
    .join('')
}

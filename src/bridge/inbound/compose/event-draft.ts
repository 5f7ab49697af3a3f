// The draft of the message that the helpdesk gets for an event: its facts, and its text with header, quote and notices.

import type { ChosenSettings } from '../../../core/chosen-settings.ts'
import type { NewMessage } from '../../../core/helpdesk/message.ts'
import type { InstanceName, NetworkMessageId } from '../../../core/ids.ts'
import type { MediaContent, NetworkEvent } from '../../../core/message.ts'
import type { MappedContent } from '../../../storage/stores/messages/message-map-store.ts'
import type { EventContext } from '../../conversations/event-context.ts'
import type { KnownPerson } from '../../people/names.ts'
import { renderHeader, renderMessage, truncate } from './render.ts'
import type { RenderedQuote, RenderSettings, TextLimits } from './render.ts'
import type { Locale, Texts } from './texts.ts'

export type EventDraft = {
  /** What of the network's message this is; see the message map. */
  kind: string
  /** As what the message is counted. */
  counted: 'text' | 'media' | 'reaction' | 'edit' | 'revoke'
  type: NewMessage['type']
  isPrivate: boolean
  /** The message that this one answers. */
  replyTo: NetworkMessageId | null
  media: MediaContent | null
  remember: MappedContent | null
  /** The customer's own text, when the written text says it in other words. */
  originalText?: string
  /** The header with which the text begins; null when it begins with none. */
  header: string | null
  /** Whether the message may open a conversation. A reaction and a change of the timer may not. */
  opens: boolean
  /** The language of the sentences of the service in it. */
  locale: Locale
  write: (extra?: ExtraText) => WrittenText
}

export type WrittenText = {
  content: string
  /** Replaces the content where the helpdesk shows which message this one answers. */
  contentAsReply?: string
}

type ExtraText = {
  /** Stands below the words of the person, or instead of them. */
  notice?: string
  instead?: boolean
  /** Stands above everything else. */
  head?: string | null
}

/** Why the helpdesk gets no message. */
export type Skipped = { skipped: 'filtered' | 'skip_disabled' }

/** The settings that are the same for all instances. */
export type SharedSettings = Omit<RenderSettings, 'headerTemplate'> & {
  groupPrefixSender: boolean
  groupEvents: boolean
  reactions: boolean
  reactionAsReply: boolean
}

/** `receivedAt` is the time by our clock. */
export type GivenEvent = {
  instance: InstanceName
  event: NetworkEvent
  receivedAt: number
  context: EventContext
  showsHeader: boolean
}

/** An event with what counts for its text. */
export type Composing = GivenEvent & { settings: SharedSettings & ChosenSettings; texts: Texts; limits: TextLimits }

type Options = {
  counted?: EventDraft['counted']
  replyTo?: NetworkMessageId | null
  quote?: RenderedQuote | null
  header?: KnownPerson
  separator?: string
}

/** A message with this body. In a group, the sender is its header. */
export function draftOf(given: Composing, body: string, options: Options = {}): EventDraft {
  const { event, context, showsHeader, settings } = given
  const inGroup = context.isGroup && !event.fromMe && settings.groupPrefixSender && showsHeader ? context.sender : null
  const { header = inGroup, separator = settings.groupHeaderSeparator, quote = null } = options
  return {
    kind: event.kind,
    counted: options.counted ?? 'text',
    type: typeOf(event),
    isPrivate: false,
    replyTo: options.replyTo ?? null,
    media: null,
    remember: null,
    header: (header && renderHeader(header, settings.headerTemplate)) || null,
    opens: true,
    locale: settings.locale,
    write: writerOf(given, { header, separator, quote, body }),
  }
}

type Parts = { header: KnownPerson | null; separator: string; quote: RenderedQuote | null; body: string }

/** In the style `bubble` there are two texts: only the poster knows whether the original is in the conversation. */
function writerOf({ event, settings, texts, limits }: Composing, { quote, body, ...head }: Parts): EventDraft['write'] {
  const writeWith = (shown: RenderedQuote | null, extra: ExtraText) => {
    const { notice = '', instead = false, head: above = null } = extra
    const whole = instead ? notice : [body, notice].filter((part) => part !== '').join('\n\n')
    const text = renderMessage({ ...head, quote: instead ? null : shown, body: whole }, settings)
    // A blank line: Markdown takes a line of dashes right below a text for the mark of a heading.
    return truncate(above === null ? text : `${above}\n\n${text}`, typeOf(event), limits, texts)
  }
  const isBubble = quote !== null && settings.quoteStyle === 'bubble'
  return (extra = {}) => ({
    content: writeWith(quote, extra),
    ...(isBubble && { contentAsReply: writeWith(null, extra) }),
  })
}

function typeOf({ fromMe }: NetworkEvent): 'outgoing' | 'incoming' {
  return fromMe ? 'outgoing' : 'incoming'
}

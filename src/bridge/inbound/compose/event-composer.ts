// Composes the message that the helpdesk gets for an event, or says why it gets none.

import type { ChosenSettings, SettingsOf } from '../../../core/chosen-settings.ts'
import type { NewMessage } from '../../../core/helpdesk/message.ts'
import type { InstanceName, Jid, NetworkMessageId } from '../../../core/ids.ts'
import type {
  CallEvent,
  CallOutcomeOf,
  EditEvent,
  GroupEvent,
  MediaContent,
  MessageEvent,
  NetworkEvent,
} from '../../../core/message.ts'
import type { ReactionEvent, SealedEvent } from '../../../core/message.ts'
import type { Network } from '../../../core/network.ts'
import { parseChat } from '../../../core/address.ts'
import type { Person } from '../../../core/address.ts'
import type { MappedContent, MessageMapStore } from '../../../storage/stores/messages/message-map-store.ts'
import { renderGroupChanges } from './group-changes.ts'
import type { EventContext } from '../../conversations/event-context.ts'
import type { OfferedChoices } from '../../conversations/offered-choices.ts'
import { mentionName } from '../../people/names.ts'
import type { KnownPerson } from '../../people/names.ts'
import { bodyOf } from './body-of.ts'
import { rememberedOf, rememberedOfEdit } from './remembered-content.ts'
import { firstCharacters, renderHeader, renderMessage, truncate } from './render.ts'
import type { RenderedQuote, RenderSettings, TextLimits } from './render.ts'
import { plainToMarkdown } from './text-to-markdown.ts'
import { textsOf } from './texts.ts'
import type { Locale, Texts } from './texts.ts'

/** The settings that are the same for all instances. */
type SharedSettings = Omit<RenderSettings, 'headerTemplate'> & {
  groupPrefixSender: boolean
  groupEvents: boolean
  reactions: boolean
  reactionAsReply: boolean
}

type Deps = {
  settings: SharedSettings
  settingsOf: SettingsOf
  network: Pick<Network, 'unseal'>
  map: Pick<MessageMapStore, 'findByNetworkId' | 'contentOf'>
  choices: Pick<OfferedChoices, 'chosen'>
  ownJid: (instance: InstanceName) => Jid
  callOutcomeOf: CallOutcomeOf
  limits: TextLimits
}

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

type Skipped = { skipped: 'filtered' | 'skip_disabled' }
/** `receivedAt` is the time by our clock. */
type Given = {
  instance: InstanceName
  event: NetworkEvent
  receivedAt: number
  context: EventContext
  showsHeader: boolean
}
type Composing = Given & { settings: SharedSettings & ChosenSettings; texts: Texts }

/** The most that is shown of a reaction or of a vote. */
const shownCharacters = 1000

export class EventComposer {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async compose(event: Given): Promise<EventDraft | Skipped> {
    const settings = { ...this.#deps.settings, ...this.#deps.settingsOf(event.instance) }
    return this.#compose({ ...event, settings, texts: textsOf[settings.locale] })
  }

  async #compose(given: Composing): Promise<EventDraft | Skipped> {
    const { event, texts } = given
    switch (event.kind) {
      case 'message':
        return this.#message(given, event)
      case 'reaction':
        return this.#reaction(given, event)
      case 'edit':
        return this.#edit(given, event)
      case 'revoke':
        return this.#plain(given, texts.deleted, { counted: 'revoke', replyTo: event.target.id })
      case 'sealed':
        return this.#sealed(given, event)
      case 'call':
        return this.#call(given, event, texts.call)
      case 'undecryptable':
        return this.#plain(given, event.isAwaited === false ? texts.withheld : texts.waiting)
      case 'group':
        return this.#group(given, event)
    }
  }

  /** A call that rings is posted at once. A missed call is a second message. A rejected call was not missed. */
  async #call(given: Composing, event: CallEvent, texts: Texts['call']): Promise<EventDraft | Skipped> {
    const outcome = await this.#deps.callOutcomeOf(given.instance, event.id)
    if (event.missed) {
      if (outcome === 'rejected') return { skipped: 'filtered' }
      return { ...this.#plain(given, event.video ? texts.missedVideo : texts.missedVoice), kind: 'missed_call' }
    }
    const call = event.video ? texts.video : texts.voice
    return { ...this.#plain(given, outcome === undefined ? call : texts[outcome](call)), kind: 'call' }
  }

  async #message(given: Composing, event: MessageEvent): Promise<EventDraft> {
    const { content, quote, ad } = event
    const chosen = await this.#chosen(given, event)
    const body = await this.#body(given, { content: chosen?.content ?? content, ad }, event.mentions)
    const quoted = quote && (await this.#quote(given, quote))
    const media = content.type === 'media' ? content : null
    const isBubble = given.settings.quoteStyle !== 'text'
    const draft = this.#plain(given, body, { quote: quoted, replyTo: isBubble ? (quote?.id ?? null) : null })
    return {
      ...draft,
      counted: media ? 'media' : 'text',
      media,
      remember: rememberedOf(event),
      ...(chosen && { originalText: chosen.originalText }),
    }
  }

  /** A text that names an offered choice is shown as that choice. */
  async #chosen({ instance, context, receivedAt }: Composing, { content, quote, fromMe, at }: MessageEvent) {
    if (fromMe || content.type !== 'text') return null
    const { text } = content
    const { chatId } = context.chat
    const answer = { chatId, text, quotes: quote?.id ?? null, at, receivedAt }
    const title = await this.#deps.choices.chosen(instance, answer)
    if (title === null) return null
    return { content: { type: 'choice', text: title, description: null } as const, originalText: text }
  }

  #reaction(given: Composing, event: Pick<ReactionEvent, 'fromMe' | 'emoji' | 'target'>): EventDraft | Skipped {
    const { settings, texts } = given
    if (event.fromMe) return { skipped: 'filtered' }
    if (!settings.reactions) return { skipped: 'skip_disabled' }
    const body =
      event.emoji === ''
        ? texts.unreacted
        : plainToMarkdown(texts.reacted(firstCharacters(event.emoji, shownCharacters)))
    const draft = this.#plain(given, body, {
      counted: 'reaction',
      header: given.context.sender,
      separator: settings.reactionHeaderSeparator,
      replyTo: settings.reactionAsReply ? event.target.id : null,
    })
    return { ...draft, opens: false }
  }

  async #edit(
    given: Composing,
    event: Pick<EditEvent, 'target' | 'content'> & { mentions: readonly Person[] },
  ): Promise<EventDraft> {
    const body = await this.#body(given, { content: event.content, ad: null }, event.mentions)
    const draft = this.#plain(given, `${given.texts.edited}\n${body}`, {
      counted: 'edit',
      replyTo: event.target.id,
    })
    return { ...draft, remember: rememberedOfEdit(event.content) }
  }

  async #sealed(given: Composing, event: SealedEvent): Promise<EventDraft | Skipped> {
    const { texts } = given
    const opened = await this.#unseal(given, event)
    if (opened?.type === 'edit') return this.#edit(given, { target: event.target, ...opened })
    if (opened?.type === 'reaction') return this.#reaction(given, { ...event, ...opened })
    if (!opened) {
      // A community has thousands of members. A notice for each of their reactions would bury the conversation.
      if (event.purpose === 'reaction') return { skipped: 'filtered' }
      const body = event.purpose === 'other' ? texts.unsupported('sealed') : texts.sealed
      return this.#plain(given, body, { replyTo: event.target.id })
    }
    const { options } = opened
    const body =
      options.length === 0
        ? texts.unvoted
        : plainToMarkdown(texts.voted(firstCharacters(options.join(', '), shownCharacters)))
    return { ...this.#plain(given, body, { replyTo: event.target.id }), isPrivate: true }
  }

  async #unseal({ instance, context }: Composing, event: SealedEvent) {
    const { map, network, ownJid } = this.#deps
    for (const row of await map.findByNetworkId(instance, [event.target.id])) {
      if (row.chat !== context.chat.chatId) continue
      const content = await map.contentOf(row.id)
      // A message of ours is stored without its author. The event names the account as the sender of the event knows it.
      const sender = content?.sender ?? personAt(event.target.participant)
      if (!content?.secret || !sender) continue
      const { secret, pollOptions = [] } = content
      return network.unseal(event, { secret, sender, ownJid: ownJid(instance), pollOptions })
    }
    return null
  }

  async #group(given: Composing, event: GroupEvent): Promise<EventDraft | Skipped> {
    const { limits } = this.#deps
    const { settings, texts } = given
    // Agents are always told when messages disappear: what they read today may be gone tomorrow.
    const changes = settings.groupEvents ? event.changes : event.changes.filter(({ change }) => change === 'ephemeral')
    if (changes.length === 0) return { skipped: 'skip_disabled' }
    const names = new Map<string, string>()
    for (const change of changes) {
      if (!('people' in change)) continue
      for (const person of change.people) names.set(keyOf(person), mentionName(await given.context.who(person)))
    }
    const actor = mentionName(given.context.sender)
    const nameOf = (person: Person) => names.get(keyOf(person)) ?? ''
    const text = renderGroupChanges(changes, actor === '' ? null : actor, nameOf, texts.change)
    // Activity messages are plain text.
    const write: EventDraft['write'] = ({ head = null } = {}) => {
      const whole = head === null ? text : `${head.replaceAll('`', '')}\n${text}`
      return { content: truncate(whole, 'activity', limits, texts) }
    }
    const opens = changes.some(({ change }) => change !== 'ephemeral')
    return { ...this.#plain(given, text), type: 'activity', header: null, opens, write }
  }

  async #body(
    given: Composing,
    shown: Pick<MessageEvent, 'content' | 'ad'>,
    mentions: readonly Person[],
  ): Promise<string> {
    const { limits } = this.#deps
    const { locale, mentionTemplate } = given.settings
    const mentioned = await knownPeople(given, mentions)
    return bodyOf({ ...shown, mentioned, mentionTemplate, locale, safeLength: limits.safeLength })
  }

  async #quote(given: Composing, quote: NonNullable<MessageEvent['quote']>) {
    const { sender, fromMe, media, mentions = [] } = quote
    const { context, texts } = given
    const text = quote.text ?? (media ? `[${texts.media[media]}]` : null)
    const author = fromMe ? await context.who('me') : sender && (await context.who(sender))
    return { author, text, mentioned: await knownPeople(given, mentions) }
  }

  #plain(
    given: Composing,
    body: string,
    options: {
      counted?: EventDraft['counted']
      replyTo?: NetworkMessageId | null
      quote?: RenderedQuote | null
      header?: KnownPerson
      separator?: string
    } = {},
  ): EventDraft {
    const { limits } = this.#deps
    const { event, context, showsHeader, settings, texts } = given
    const type = event.fromMe ? 'outgoing' : 'incoming'
    const inGroup =
      context.isGroup && !event.fromMe && settings.groupPrefixSender && showsHeader ? context.sender : null
    const { header = inGroup, separator = settings.groupHeaderSeparator, quote = null } = options
    const writeWith = (shown: RenderedQuote | null, { notice = '', instead = false, head = null }: ExtraText) => {
      const whole = instead ? notice : [body, notice].filter((part) => part !== '').join('\n\n')
      const text = renderMessage({ header, separator, quote: instead ? null : shown, body: whole }, settings)
      // A blank line: Markdown takes a line of dashes right below a text for the mark of a heading.
      return truncate(head === null ? text : `${head}\n\n${text}`, type, limits, texts)
    }
    const isBubble = quote !== null && settings.quoteStyle === 'bubble'
    const write: EventDraft['write'] = (extra = {}) => ({
      content: writeWith(quote, extra),
      ...(isBubble && { contentAsReply: writeWith(null, extra) }),
    })
    return {
      kind: event.kind,
      counted: options.counted ?? 'text',
      type,
      isPrivate: false,
      replyTo: options.replyTo ?? null,
      media: null,
      remember: null,
      header: (header && renderHeader(header, settings.headerTemplate)) || null,
      opens: true,
      locale: settings.locale,
      write,
    }
  }
}

async function knownPeople({ context }: Composing, people: readonly Person[]): Promise<KnownPerson[]> {
  const known: KnownPerson[] = []
  for (const person of people) known.push(await context.who(person))
  return known
}

function personAt(jid: Jid | null): Person | null {
  const chat = jid === null ? undefined : parseChat(jid)
  return chat?.kind === 'person' ? chat : null
}

function keyOf({ phone, lid }: Person): string {
  return `${phone}|${lid}`
}

// Composes the message that the helpdesk gets for an event, or says why it gets none.

import { parseChat } from '../../../core/address.ts'
import type { Person } from '../../../core/address.ts'
import type { SettingsOf } from '../../../core/chosen-settings.ts'
import type { InstanceName, Jid } from '../../../core/ids.ts'
import type { CallEvent, CallOutcomeOf, EditEvent, MessageEvent } from '../../../core/message.ts'
import type { ReactionEvent, SealedEvent } from '../../../core/message.ts'
import type { Network } from '../../../core/network.ts'
import type { MessageMapStore } from '../../../storage/stores/messages/message-map-store.ts'
import type { OfferedChoices } from '../../conversations/offered-choices.ts'
import type { KnownPerson } from '../../people/names.ts'
import { bodyOf } from './body-of.ts'
import { draftOf } from './event-draft.ts'
import type { Composing, EventDraft, GivenEvent, SharedSettings, Skipped } from './event-draft.ts'
import { groupDraft } from './group-draft.ts'
import { rememberedOf, rememberedOfEdit } from './remembered-content.ts'
import { firstCharacters } from './render.ts'
import type { TextLimits } from './render.ts'
import { plainToMarkdown } from './text-to-markdown.ts'
import { textsOf } from './texts.ts'
import type { Texts } from './texts.ts'

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

/** The most that is shown of a reaction or of a vote. */
const shownCharacters = 1000

export class EventComposer {
  readonly #deps: Deps
  /** All settings that count, by those that were chosen for the instance: copying them for each message is slow. */
  readonly #settings = new WeakMap<object, Composing['settings']>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async compose(event: GivenEvent): Promise<EventDraft | Skipped> {
    const { limits } = this.#deps
    const settings = this.#settingsOf(event.instance)
    return this.#compose({ ...event, settings, texts: textsOf[settings.locale], limits })
  }

  #settingsOf(instance: InstanceName): Composing['settings'] {
    const { settings, settingsOf } = this.#deps
    const chosen = settingsOf(instance)
    const known = this.#settings.get(chosen) ?? { ...settings, ...chosen }
    this.#settings.set(chosen, known)
    return known
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
        return draftOf(given, texts.deleted, { counted: 'revoke', replyTo: event.target.id })
      case 'sealed':
        return this.#sealed(given, event)
      case 'call':
        return this.#call(given, event, texts.call)
      case 'undecryptable':
        return draftOf(given, event.isAwaited === false ? texts.withheld : texts.waiting)
      case 'group':
        return groupDraft(given, event)
    }
  }

  /** A call that rings is posted at once. A missed call is a second message. A rejected call was not missed. */
  async #call(given: Composing, event: CallEvent, texts: Texts['call']): Promise<EventDraft | Skipped> {
    const outcome = await this.#deps.callOutcomeOf(given.instance, event.id)
    if (event.missed) {
      if (outcome === 'rejected') return { skipped: 'filtered' }
      return { ...draftOf(given, event.video ? texts.missedVideo : texts.missedVoice), kind: 'missed_call' }
    }
    const call = event.video ? texts.video : texts.voice
    return { ...draftOf(given, outcome === undefined ? call : texts[outcome](call)), kind: 'call' }
  }

  async #message(given: Composing, event: MessageEvent): Promise<EventDraft> {
    const { content, quote, ad } = event
    const chosen = await this.#chosen(given, event)
    const body = await this.#body(given, { content: chosen?.content ?? content, ad }, event.mentions)
    const quoted = quote && (await this.#quote(given, quote))
    const media = content.type === 'media' ? content : null
    const isBubble = given.settings.quoteStyle !== 'text'
    const draft = draftOf(given, body, { quote: quoted, replyTo: isBubble ? (quote?.id ?? null) : null })
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
    const draft = draftOf(given, body, {
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
    const draft = draftOf(given, `${given.texts.edited}\n${body}`, {
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
      return draftOf(given, body, { replyTo: event.target.id })
    }
    const { options } = opened
    const body =
      options.length === 0
        ? texts.unvoted
        : plainToMarkdown(texts.voted(firstCharacters(options.join(', '), shownCharacters)))
    return { ...draftOf(given, body, { replyTo: event.target.id }), isPrivate: true }
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

  async #body(
    given: Composing,
    shown: Pick<MessageEvent, 'content' | 'ad'>,
    mentions: readonly Person[],
  ): Promise<string> {
    const { locale, mentionTemplate } = given.settings
    const mentioned = await knownPeople(given, mentions)
    return bodyOf({ ...shown, mentioned, mentionTemplate, locale, safeLength: given.limits.safeLength })
  }

  async #quote(given: Composing, quote: NonNullable<MessageEvent['quote']>) {
    const { sender, fromMe, media, mentions = [] } = quote
    const { context, texts } = given
    const text = quote.text ?? (media ? `[${texts.media[media]}]` : null)
    const author = fromMe ? await context.who('me') : sender && (await context.who(sender))
    return { author, text, mentioned: await knownPeople(given, mentions) }
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

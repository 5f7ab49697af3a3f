// Turns an agent's message into its parts: one for the text, one for each file. A text beside files becomes a caption.

import { parseChat } from '../../../core/address.ts'
import type { Person } from '../../../core/address.ts'
import type { SettingsOf } from '../../../core/chosen-settings.ts'
import type { Destination, Downstream } from '../../../core/downstream.ts'
import type { DestinationKey, InstanceName, Jid } from '../../../core/ids.ts'
import type { GroupInfo, NetworkSession } from '../../../core/network.ts'
import type { OutgoingContent, QuotedMessage } from '../../../core/network/outgoing-content.ts'
import { messageLimits } from '../../../core/outbox.ts'
import type { MessagePayload, OutboxPart } from '../../../core/outbox.ts'
import { writeReason } from '../../../core/reasons/reason.ts'
import { isLongerThan } from '../../../lib/text/is-longer-than.ts'
import type { MappedMessage, MessageMapStore } from '../../../storage/stores/messages/message-map-store.ts'
import { mayMention, mentionMembers } from './mention-members.ts'
import { fetchAttachment, isDeclaredAudio } from './attachment-fetcher.ts'
import { messageAmong, quoteOf } from './quoted-message.ts'
import { SendRefusal } from './send-refusal.ts'
import { textOfMarkdown } from './text-of-markdown.ts'
import type { Transcode } from './voice-note.ts'

const maxLength = messageLimits.characters
const singleEmoji =
  /^(?:\p{Regional_Indicator}{2}|\p{Emoji_Presentation}|\p{Extended_Pictographic})(?:\p{Emoji_Modifier}|\uFE0F|\u200D\p{Extended_Pictographic})*$/u

type Deps = {
  map: Pick<MessageMapStore, 'findByMessage' | 'findByNetworkId' | 'contentOf'>
  downstream: Pick<Downstream, 'download'>
  transcode: Transcode
  settingsOf: SettingsOf
  emojiReplyAsReaction: boolean
}

type DraftTarget = {
  instance: InstanceName
  destinationKey: DestinationKey
  /** Null when no file has to be fetched. */
  destination: Destination | null
  address: Jid
}

export type PartContent = {
  content: OutgoingContent
  /** What a quote of this part shows. */
  text: string
  /** The caption could not go along, because a recording has none. The text needs a part of its own. */
  leftOver: boolean
  [Symbol.asyncDispose](): Promise<void>
}

export type MessageDraft = {
  plan: readonly OutboxPart['of'][]
  contentOf(of: OutboxPart['of'], signal: AbortSignal): Promise<PartContent>
}

export class MessageComposer {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async draft(
    payload: MessagePayload,
    target: DraftTarget,
    session: Pick<NetworkSession, 'groupInfo'>,
  ): Promise<MessageDraft> {
    const replied = await this.#repliedTo(payload, target)
    const emoji = payload.content.trim()
    const isReaction = this.#deps.emojiReplyAsReaction && payload.attachments.length === 0 && singleEmoji.test(emoji)
    if (replied && isReaction) return reaction(replied, emoji)
    const written = await this.#textOf(payload, target.instance)
    const { text, mentions } = await withMentions(written, target.address, session)
    const quote = replied && (await quoteOf(this.#deps.map, replied))
    const { attachments } = payload
    const carrier = text === '' ? -1 : attachments.findIndex((each) => !isDeclaredAudio(each))
    const plan = [...(text !== '' && carrier === -1 ? (['text'] as const) : []), ...attachments.keys()]
    const first = plan[0]
    if (first === undefined) throw new SendRefusal(writeReason('nothingLeft'))
    return {
      plan,
      contentOf: async (of, signal) => {
        const reply = of === first ? quote : null
        if (of === 'text') return plain({ type: 'text', text, mentions, quote: reply }, text)
        return this.#file(
          payload,
          of,
          { caption: of === carrier ? text : null, mentions, quote: reply },
          target,
          signal,
        )
      },
    }
  }

  async #textOf({ content, agentName }: MessagePayload, instance: InstanceName): Promise<string> {
    // Converting the marks makes a text shorter, but never shorter than half.
    const text = content.length > 2 * maxLength ? content : await textOfMarkdown(content)
    const { signMessages } = this.#deps.settingsOf(instance)
    const signed = signMessages && agentName && text !== '' ? `*${agentName}:*\n${text}` : text
    if (isLongerThan(maxLength, signed)) {
      throw new SendRefusal(writeReason('tooLong', { characters: maxLength }))
    }
    return signed
  }

  async #file(
    { attachments }: MessagePayload,
    index: number,
    along: { caption: string | null; mentions: readonly Person[]; quote: QuotedMessage | null },
    { destination }: DraftTarget,
    signal: AbortSignal,
  ): Promise<PartContent> {
    const attachment = attachments[index]
    if (!attachment || !destination) throw new SendRefusal(writeReason('noHelpdesk'))
    const fetched = await fetchAttachment(this.#deps, destination, attachment, signal)
    const { file } = fetched
    const isRecording = file.kind === 'audio' || file.kind === 'voice'
    const caption = isRecording ? null : along.caption
    return {
      content: { type: 'file', file, ...along, caption },
      text: caption ?? file.fileName,
      leftOver: isRecording && along.caption !== null,
      [Symbol.asyncDispose]: () => fetched[Symbol.asyncDispose](),
    }
  }

  /** The message on the network to which this message replies. */
  async #repliedTo(
    { inReplyTo }: MessagePayload,
    { instance, destinationKey }: DraftTarget,
  ): Promise<MappedMessage | null> {
    if (!inReplyTo) return null
    const { messageId, sourceId } = inReplyTo
    const byMessage = messageId === null ? [] : await this.#deps.map.findByMessage(destinationKey, messageId)
    const found =
      byMessage.length > 0 || sourceId === null ? byMessage : await this.#deps.map.findByNetworkId(instance, [sourceId])
    return messageAmong(found.filter((each) => each.instance === instance))
  }
}

function reaction({ networkKey }: MappedMessage, emoji: string): MessageDraft {
  const content = { type: 'reaction', target: networkKey, emoji } as const
  return { plan: ['text'], contentOf: () => Promise.resolve(plain(content, emoji)) }
}

export function plain(content: OutgoingContent, text: string): PartContent {
  return { content, text, leftOver: false, [Symbol.asyncDispose]: () => Promise.resolve() }
}

/** In a group, the `@phone` of a member becomes a mention. */
export async function withMentions(text: string, address: Jid, session: Pick<NetworkSession, 'groupInfo'>) {
  const chat = parseChat(address)
  if (chat?.kind !== 'group' || !mayMention(text)) return { text, mentions: [] }
  return mentionMembers(text, membersByPhone(await session.groupInfo(chat.id)))
}

function membersByPhone({ members }: GroupInfo): Map<string, Person> {
  return new Map(members.flatMap(({ phone, lid }) => (phone === null ? [] : [[phone, { phone, lid }] as const])))
}

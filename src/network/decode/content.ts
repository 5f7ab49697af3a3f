// Decodes the content of a message, with one reader per kind of message of the network.

import type { Content } from '../../core/message.ts'
import { proto } from '../library/library.ts'
import { buttons, interactive, invoice, list, order, product, structuredText, template } from './business.ts'
import { audioContent, documentContent, imageContent, mediaContent, videoContent } from './media.ts'
import type { Part, Unwrapped } from './unwrap.ts'
import { lines, numberOf, textOf } from './values.ts'
import { readCard } from './vcard.ts'

type Readers = { [Name in Part]?: (part: NonNullable<proto.IMessage[Name]>) => Content }

const { Type: Pin } = proto.Message.PinInChatMessage

const pollWith = ({ name, options }: proto.Message.IPollCreationMessage): Content => ({
  type: 'poll',
  question: name ?? '',
  options: (options ?? []).map(({ optionName }) => optionName ?? ''),
})

const resultsOf = ({ name, pollVotes }: proto.Message.IPollResultSnapshotMessage): Content => {
  const votes = (pollVotes ?? []).map((vote) => `• ${vote.optionName ?? ''}: ${numberOf(vote.optionVoteCount) ?? 0}`)
  return named('pollResultSnapshotMessage', name, ...votes)
}

const readers: Readers = {
  conversation: (text) => ({ type: 'text', text }),
  extendedTextMessage: ({ text }) => ({ type: 'text', text: text ?? '' }),
  imageMessage: imageContent,
  videoMessage: videoContent,
  ptvMessage: (video) => mediaContent('video_note', video, { seconds: video.seconds }),
  audioMessage: audioContent,
  documentMessage: documentContent,
  stickerMessage: (sticker) => mediaContent('sticker', sticker),
  locationMessage: (one) => ({
    ...place(one),
    name: textOf(one.name),
    address: textOf(one.address),
    caption: textOf(one.comment),
    live: one.isLive === true,
  }),
  liveLocationMessage: (one) => ({
    ...place(one),
    name: null,
    address: null,
    caption: textOf(one.caption),
    live: true,
  }),
  contactMessage: ({ displayName, vcard }) => ({ type: 'contacts', cards: [readCard(displayName, vcard)] }),
  contactsArrayMessage: ({ contacts }) => ({
    type: 'contacts',
    cards: (contacts ?? []).map(({ displayName, vcard }) => readCard(displayName, vcard)),
  }),
  pollCreationMessage: pollWith,
  pollCreationMessageV2: pollWith,
  pollCreationMessageV3: pollWith,
  pollCreationMessageV5: pollWith,
  pollResultSnapshotMessage: resultsOf,
  pollResultSnapshotMessageV3: resultsOf,
  listResponseMessage: ({ title, description, singleSelectReply }) =>
    choice(title ?? singleSelectReply?.selectedRowId, description),
  buttonsResponseMessage: ({ selectedDisplayText, selectedButtonId }) =>
    choice(selectedDisplayText ?? selectedButtonId),
  templateButtonReplyMessage: ({ selectedDisplayText, selectedId }) => choice(selectedDisplayText ?? selectedId),
  interactiveResponseMessage: ({ body, nativeFlowResponseMessage }) =>
    choice(body?.text ?? nativeFlowResponseMessage?.name),
  buttonsMessage: buttons,
  listMessage: list,
  templateMessage: template,
  interactiveMessage: interactive,
  highlyStructuredMessage: (message) => ({ type: 'text', text: structuredText(message) }),
  orderMessage: order,
  productMessage: product,
  invoiceMessage: invoice,
  albumMessage: ({ expectedImageCount, expectedVideoCount }) => ({
    type: 'album',
    images: expectedImageCount ?? 0,
    videos: expectedVideoCount ?? 0,
  }),
  groupInviteMessage: ({ groupName, caption }) => named('groupInviteMessage', groupName, caption),
  newsletterAdminInviteMessage: (one) => named('newsletterAdminInviteMessage', one.newsletterName, one.caption),
  eventMessage: ({ name, description, location, joinLink, startTime, isCanceled }) =>
    named(
      'eventMessage',
      isCanceled ? `✗ ${name ?? ''}` : name,
      timeText(startTime),
      textOf(location?.name) ?? location?.address,
      description,
      joinLink,
    ),
  pinInChatMessage: ({ type }) => ({ type: 'mark', mark: type === Pin.UNPIN_FOR_ALL ? 'unpinned' : 'pinned' }),
  keepInChatMessage: ({ keepType }) => ({
    type: 'mark',
    mark: keepType === proto.KeepType.UNDO_KEEP_FOR_ALL ? 'unkept' : 'kept',
  }),
  stickerPackMessage: ({ name, publisher, caption }) => named('stickerPackMessage', name, publisher, caption),
  questionResponseMessage: ({ text }) => ({ type: 'text', text: text ?? '' }),
  statusQuestionAnswerMessage: ({ text }) => ({ type: 'text', text: text ?? '' }),
  richResponseMessage: ({ submessages }) => ({
    type: 'text',
    text: lines((submessages ?? []).map((one) => one.messageText)),
  }),
}

/** Undefined when the message has no content. */
export function contentOf({ message, part, isViewOnce }: Unwrapped): Content | undefined {
  if (part === undefined) return undefined
  const value = message[part]
  const read = readers[part] as ((value: unknown) => Content) | undefined
  const content = read ? read(value) : named(part)
  const once = isViewOnce || (value as { viewOnce?: unknown } | null)?.viewOnce === true
  return once ? { type: 'view_once', media: content.type === 'media' ? content.media : null } : content
}

function named(name: string, ...text: (string | null | undefined)[]): Content {
  return { type: 'unsupported', name, text: textOf(lines(text)) }
}

function choice(text: string | null | undefined, description?: string | null): Content {
  return { type: 'choice', text: text ?? '', description: textOf(description) }
}

function place({ degreesLatitude, degreesLongitude }: proto.Message.ILocationMessage) {
  return {
    type: 'location' as const,
    latitude: numberOf(degreesLatitude) ?? 0,
    longitude: numberOf(degreesLongitude) ?? 0,
  }
}

function timeText(seconds: Parameters<typeof numberOf>[0]): string | null {
  const time = new Date((numberOf(seconds) ?? NaN) * 1000)
  return Number.isNaN(time.getTime()) ? null : time.toISOString()
}

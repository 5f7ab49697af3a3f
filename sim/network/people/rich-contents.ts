// Builds the rarer contents: live locations, several contact cards, replies to buttons and lists, albums.
import { proto } from '../library.ts'
import { contactCard, messageKey, type MessageRef } from './contents.ts'

export type Place = { latitude: number; longitude: number; caption?: string; sequence?: number }
export type Card = { name: string; phone: string }
export type Choice = { id: string; text: string }

/** Each later position of one share has a higher sequence number. */
export function liveLocation({ latitude, longitude, caption, sequence = 1 }: Place): proto.IMessage {
  const described = caption === undefined ? {} : { caption }
  const place = { degreesLatitude: latitude, degreesLongitude: longitude, sequenceNumber: sequence }
  return { liveLocationMessage: { ...place, accuracyInMeters: 10, ...described } }
}

export function contactCards(cards: Card[]): proto.IMessage {
  const contacts = cards.flatMap(({ name, phone }) => contactCard(name, phone).contactMessage ?? [])
  return { contactsArrayMessage: { displayName: `${cards.length} contacts`, contacts } }
}

export function buttonReply({ id, text }: Choice, contextInfo: proto.IContextInfo): proto.IMessage {
  const type = proto.Message.ButtonsResponseMessage.Type.DISPLAY_TEXT
  return { buttonsResponseMessage: { selectedButtonId: id, selectedDisplayText: text, type, contextInfo } }
}

export function listReply({ id, text }: Choice, contextInfo: proto.IContextInfo): proto.IMessage {
  const listType = proto.Message.ListResponseMessage.ListType.SINGLE_SELECT
  return { listResponseMessage: { title: text, listType, singleSelectReply: { selectedRowId: id }, contextInfo } }
}

/** Announces how many files follow. Each file names the album. */
export function album(images: number, videos: number): proto.IMessage {
  return { albumMessage: { expectedImageCount: images, expectedVideoCount: videos } }
}

export function inAlbum(parent: MessageRef, file: proto.IMessage): proto.IMessage {
  const associationType = proto.MessageAssociation.AssociationType.MEDIA_ALBUM
  return {
    ...file,
    messageContextInfo: { messageAssociation: { associationType, parentMessageKey: messageKey(parent) } },
  }
}

/** The content with the new text. For a file the text is its caption. */
export function editedContent(original: proto.IMessage, text: string): proto.IMessage {
  for (const kind of ['imageMessage', 'videoMessage', 'documentMessage'] as const) {
    if (original[kind]) return { [kind]: { caption: text } }
  }
  return { conversation: text }
}

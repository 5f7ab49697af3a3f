// Builds the content of messages, one function per everyday kind.
import { proto } from '../library.ts'
import { unwrap } from './received-message.ts'

/** Identifies a message from its author's point of view, as quotes, reactions, edits and revokes do. */
export type MessageRef = { id: string; remoteJid: string; fromMe: boolean; participant: string | undefined }
export type Quoted = { ref: MessageRef; author: string; message: proto.IMessage }

export function messageKey(ref: MessageRef): proto.IMessageKey {
  const { id, remoteJid, fromMe, participant } = ref
  return { id, remoteJid, fromMe, ...(participant === undefined ? {} : { participant }) }
}

export function text(body: string, context?: proto.IContextInfo): proto.IMessage {
  return context ? { extendedTextMessage: { text: body, contextInfo: context } } : { conversation: body }
}

export function contextInfo(quote: Quoted | undefined, mentions: string[]): proto.IContextInfo {
  const quoted = quote ? { stanzaId: quote.ref.id, participant: quote.author, quotedMessage: quote.message } : {}
  return { ...quoted, ...(mentions.length > 0 ? { mentionedJid: mentions } : {}) }
}

/** An empty emoji removes the reaction. */
export function reaction(ref: MessageRef, emoji: string, at: number): proto.IMessage {
  return { reactionMessage: { key: messageKey(ref), text: emoji, senderTimestampMs: at } }
}

export function edit(ref: MessageRef, editedMessage: proto.IMessage, at: number): proto.IMessage {
  const type = proto.Message.ProtocolMessage.Type.MESSAGE_EDIT
  return {
    editedMessage: {
      message: { protocolMessage: { key: messageKey(ref), type, editedMessage, timestampMs: at } },
    },
  }
}

export function revoke(ref: MessageRef): proto.IMessage {
  return { protocolMessage: { key: messageKey(ref), type: proto.Message.ProtocolMessage.Type.REVOKE } }
}

export function location(latitude: number, longitude: number, name?: string): proto.IMessage {
  const named = name === undefined ? {} : { name }
  return { locationMessage: { degreesLatitude: latitude, degreesLongitude: longitude, ...named } }
}

export function contactCard(displayName: string, phone: string): proto.IMessage {
  const vcard = [
    'BEGIN:VCARD',
    'VERSION:3.0',
    `FN:${displayName}`,
    `TEL;type=CELL;type=VOICE;waid=${phone}:+${phone}`,
    'END:VCARD',
  ].join('\n')
  return { contactMessage: { displayName, vcard } }
}

export function poll(question: string, options: string[], secret: Buffer, selectable = 1): proto.IMessage {
  return {
    pollCreationMessageV3: {
      name: question,
      options: options.map((optionName) => ({ optionName })),
      selectableOptionsCount: selectable,
    },
    messageContextInfo: { messageSecret: secret },
  }
}

/** The `type` attribute that a sending client puts on the stanza. */
export function stanzaType(sent: proto.IMessage): string {
  const message = unwrap(sent)
  if (message.reactionMessage ?? message.encReactionMessage) return 'reaction'
  if (message.pollCreationMessageV3 ?? message.pollUpdateMessage) return 'poll'
  const media =
    message.imageMessage ??
    message.videoMessage ??
    message.audioMessage ??
    message.documentMessage ??
    message.stickerMessage ??
    message.contactMessage ??
    message.contactsArrayMessage ??
    message.locationMessage ??
    message.liveLocationMessage
  return media ? 'media' : 'text'
}

/** The `edit` attribute, which marks edits and revokes. */
export function editAttribute(message: proto.IMessage): string | undefined {
  if (message.editedMessage ?? message.secretEncryptedMessage) return '1'
  const change = message.protocolMessage
  if (change?.type !== proto.Message.ProtocolMessage.Type.REVOKE) return undefined
  // An administrator revokes the message of another member.
  return change.key?.fromMe === false ? '8' : '7'
}

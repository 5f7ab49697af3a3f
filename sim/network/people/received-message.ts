// What a simulated person or phone knows of a message it opened.
import type { proto } from '../library.ts'
import type { User } from '../server/user.ts'
import type { Stanza } from '../wire/stanza.ts'

export type ReceivedMessage = {
  id: string
  /** The chat as this device sees it: a group, the other person, or for own copies the person written to. */
  chat: string
  from: User
  fromDevice: number
  /** Written by another device of the same user. */
  own: boolean
  message: proto.IMessage
  stanza: Stanza
}

/** The text a reader would see first, whatever the kind of message. */
export function textOfMessage(message: proto.IMessage): string | undefined {
  const content = unwrap(message)
  return (
    content.conversation ??
    content.extendedTextMessage?.text ??
    content.imageMessage?.caption ??
    content.videoMessage?.caption ??
    content.documentMessage?.caption ??
    undefined
  )
}

/** Takes away the wrappers (ephemeral, view once, document with caption, own copy) around the content. */
export function unwrap(message: proto.IMessage): proto.IMessage {
  const inner =
    message.deviceSentMessage?.message ??
    message.ephemeralMessage?.message ??
    message.viewOnceMessage?.message ??
    message.viewOnceMessageV2?.message ??
    message.viewOnceMessageV2Extension?.message ??
    message.documentWithCaptionMessage?.message ??
    message.editedMessage?.message
  return inner ? unwrap(inner) : message
}

/** The protobuf field that carries the content: conversation, imageMessage, pollCreationMessage, … */
export function kindOfMessage(message: proto.IMessage): string {
  const content = unwrap(message)
  const names = Object.entries(content)
    .filter(([name, value]) => value !== null && value !== undefined && !SIDE_FIELDS.has(name))
    .map(([name]) => name)
  return names[0] ?? 'empty'
}

const SIDE_FIELDS = new Set(['messageContextInfo', 'senderKeyDistributionMessage'])

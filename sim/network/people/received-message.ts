// A message as the simulated person or phone that decrypted it knows it.
import type { proto } from '../library.ts'
import type { User } from '../server/user.ts'
import type { Stanza } from '../wire/stanza.ts'

export type ReceivedMessage = {
  id: string
  /** The chat as this device sees it: a group, the other person, or for a copy of an own message its recipient. */
  chat: string
  from: User
  fromDevice: number
  /** True when another device of the same user wrote the message. */
  own: boolean
  message: proto.IMessage
  stanza: Stanza
}

/** The text that a reader sees first, for every kind of message. */
export function textOfMessage(message: proto.IMessage): string | undefined {
  const content = unwrap(message)
  return (
    content.conversation ??
    content.extendedTextMessage?.text ??
    content.imageMessage?.caption ??
    content.videoMessage?.caption ??
    content.documentMessage?.caption ??
    content.groupInviteMessage?.caption ??
    undefined
  )
}

/** Removes the wrappers around the content: ephemeral, view once, document with caption, own copy. */
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

/** The protobuf field that holds the content: conversation, imageMessage, pollCreationMessage, … */
export function kindOfMessage(message: proto.IMessage): string {
  const content = unwrap(message)
  const names = Object.entries(content)
    .filter(([name, value]) => value !== null && value !== undefined && !SIDE_FIELDS.has(name))
    .map(([name]) => name)
  return names[0] ?? 'empty'
}

const SIDE_FIELDS = new Set(['messageContextInfo', 'senderKeyDistributionMessage'])
